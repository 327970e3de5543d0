// tx-bpe train.
#include <chrono>
#include <filesystem>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/outputs.h"
#include "lib/subword/words.h"
#include "tools/bpe/commands.h"

namespace tx {
namespace {

// Refuses an output that cannot be written, or a file that is not a vocabulary.
void check_place(const TrainCommand& command) {
  check_writable(command.output);
  std::error_code error;
  if (!std::filesystem::is_regular_file(command.output, error)) return;
  if (std::filesystem::file_size(command.output, error) == 0) return;
  try {
    load_vocabulary(command.output);
  } catch (const DataError&) {
    throw UsageError("--out " + command.output +
                     " exists and is not a vocabulary: choose another name, or remove it");
  }
}

// Shows on a terminal how much text has been read and the current phase; erased at the end.
class ReadProgress {
 public:
  explicit ReadProgress(const Log& log) : log_(log) {}
  ~ReadProgress() { log_.clear_live(); }
  ReadProgress(const ReadProgress&) = delete;
  ReadProgress& operator=(const ReadProgress&) = delete;
  void add(const std::string& line) {
    ++lines_;
    bytes_ += int64_t(line.size()) + 1;
    if (lines_ % 1024 == 0 && log_.terminal()) show();
  }
  void say(const std::string& text) { log_.live(text); }

 private:
  void show() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(200);
    log_.live(formatted("read %lld lines, %.1f MB", static_cast<long long>(lines_),
                        double(bytes_) / 1e6));
  }

  const Log& log_;
  int64_t lines_ = 0, bytes_ = 0;
  std::chrono::steady_clock::time_point next_{};
};

// The words of the text, or of a sample of its lines.
WordCounts read_counts(TextReader& in, const TrainCommand& command, ReadProgress& progress,
                       const Log& log) {
  const LineSource lines = [&](std::string& line) {
    if (!in.next(line)) return false;
    progress.add(line);
    return true;
  };
  const int threads = command.text.limited_threads(log);
  if (!command.sample) return count_words(lines, threads);
  return count_words(source_of(sample_lines(lines, *command.sample, command.seed)), threads);
}

}  // namespace

void TrainCommand::describe(Options& options) {
  options.usage("tx-bpe train --vocab-size 8000 -o bpe.model FILE...");
  options.add("-o,--out", output, "FILE", "output file").must().output();
  options.add("--type", type, "bpe|words", "byte-pair encoding or a list of words")
      .one_of({"bpe", "words"});
  options.add("--vocab-size", vocab_size, "N", "maximum size, special tokens included")
      .range(5, 1000000)
      .default_is("8000, or every word")
      .more("A small text gives a smaller vocabulary, with a warning.");
  options
      .add("--character-coverage", training.character_coverage, "SHARE",
           "share of the text's characters that become tokens")
      .range(0.98, 1)
      .excludes({{"--type", "words"}})
      .more("The rest is encoded as bytes.");
  options
      .add("--user-symbols", symbols, "FILE", "tokens that are never split or merged, one per line",
           "The longest match wins. They count towards --vocab-size.")
      .input()
      .excludes({{"--type", "words"}});
  options.flag("--split-digits", training.split_digits, "make each digit a token")
      .excludes({{"--type", "words"}});
  options
      .add(
          "--normalization", training.normalization, "identity|nfkc|nmt_nfkc",
          "normalisation of text, stored in the model",
          "nmt_nfkc is nfkc that also maps white space, U+061C, U+200B, U+200C, U+200E, U+200F, "
          "U+FEFF and U+FFFD to spaces, deletes control characters and keeps U+FF5E. tx-bpe decode "
          "cannot undo either.")
      .one_of({"identity", "nfkc", "nmt_nfkc"})
      .excludes({{"--type", "words"}});
  options.add("--sample", sample, "N", "learn from a random sample of N lines")
      .at_least(1)
      .default_is("every line")
      .more("Bounds the memory.");
  options.add("--seed", seed, "N", "seed of --sample").needs({"--sample"});
  text.describe(options);
}

void TrainCommand::run(const Log& log) {
  const bool words = type == "words";
  check_place(*this);
  if (!symbols.empty()) training.user_symbols = read_user_symbols(symbols);
  TextReader in = text.open();
  std::optional<ReadProgress> progress(log);
  const WordCounts counts = read_counts(in, *this, *progress, log);
  training.vocab_size = vocab_size.value_or(training.vocab_size);
  progress->say("learning from " + std::to_string(counts.size()) + " different words");
  const std::string bytes =
      words ? train_words(counts, vocab_size.value_or(0)) : train_subword(counts, training);
  progress.reset();
  for (const std::string& warning : in.warnings()) log.warn(warning);
  write_atomically(output, bytes);
  const int wanted = words ? 0 : training.vocab_size;
  for (const std::string& warning : describe_shortfall(*parse_vocabulary(bytes, output), wanted))
    log.warn(warning);
}

}  // namespace tx
