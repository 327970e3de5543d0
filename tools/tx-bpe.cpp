// tx-bpe: subword models: train one, cut text into pieces, join pieces into text.
#include <optional>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/log.h"
#include "lib/base/workers.h"
#include "lib/cli/options.h"
#include "lib/text/corpus.h"
#include "lib/text/filter.h"
#include "lib/text/subword.h"
#include "lib/text/words.h"

namespace {

using namespace tx;

constexpr char tool[] = "tx-bpe";

struct Settings {
  std::string model, output, vocab = "bpe";
  std::vector<std::string> files;
  std::optional<int> vocab_size;
  SubwordTraining training;
  FilterOptions filter{.threads = available_cpus()};
  bool strict = false;

  std::vector<std::string> inputs() const {
    return files.empty() ? std::vector<std::string>{"-"} : files;
  }
};

void warn(const std::vector<std::string>& messages) {
  for (const std::string& message : messages) Log(tool).warn(message);
}

void add_text_options(Options& options, Settings& s) {
  options.flag(
      "--strict", s.strict, "stop at the first line that is not valid UTF-8",
      "Otherwise such bytes are replaced by U+FFFD, counted, and the first line is named.");
  options.add("--threads", s.filter.threads, "N", "threads to use")
      .range(1, 1024)
      .default_is("all processors")
      .more("The result does not depend on it.");
  options.positional("FILE", s.files, "text, plain or gzip; standard input when left out");
}

void add_model_option(Options& options, Settings& s) {
  options.add("-m,--model", s.model, "FILE", "the subword model or word list").must();
}

// What a tool's -m may name.
std::unique_ptr<Vocabulary> open_model(const std::string& path) { return load_vocabulary(path); }

void write_model(const std::string& path, const std::string& bytes) {
  if (path != "-") return write_atomically(path, bytes);
  Writer out(path);
  out.write(bytes);
  out.close();
}

int train(int argc, const char* const* argv) {
  Settings s;
  Options options("tx-bpe train", "learn a vocabulary from text");
  options.usage("tx-bpe train --vocab-size 8000 -o bpe.model FILE...");
  options.add("-o,--out", s.output, "FILE", "where the vocabulary goes").must();
  options.add("--vocab", s.vocab, "bpe|words", "what to learn: subword pieces or plain words")
      .one_of({"bpe", "words"});
  options.add("--vocab-size", s.vocab_size, "N", "the most entries to have, special ones included")
      .range(5, 1000000)
      .default_is("8000 pieces, or every word")
      .more("A small text gives fewer, with a warning that tells how many.");
  options
      .add("--character-coverage", s.training.character_coverage, "SHARE",
           "share of the text's characters that become pieces")
      .range(0.98, 1)
      .more("The rest is carried as bytes.");
  add_text_options(options, s);
  if (!options.parse(argc, argv)) return 0;
  TextReader text(s.inputs(), s.strict);
  const WordCounts counts =
      count_words([&](std::string& line) { return text.next(line); }, s.filter.threads);
  warn(text.warnings());
  s.training.vocab_size = s.vocab_size.value_or(s.training.vocab_size);
  const bool words = s.vocab == "words";
  const std::string bytes =
      words ? train_words(counts, s.vocab_size.value_or(0)) : train_subword(counts, s.training);
  write_model(s.output, bytes);
  warn(describe_shortfall(*parse_vocabulary(bytes, s.output), words ? 0 : s.training.vocab_size));
  return 0;
}

int filter(int argc, const char* const* argv, const char* summary, decltype(encode_lines)& run) {
  Settings s;
  Options options(std::string(tool) + " " + argv[0], summary);
  options.usage(std::string(tool) + " " + argv[0] + " -m bpe.model < FILE");
  add_model_option(options, s);
  options.flag("--ids", s.filter.ids, "numbers in place of pieces");
  add_text_options(options, s);
  if (!options.parse(argc, argv)) return 0;
  const auto vocabulary = open_model(s.model);
  TextReader text(s.inputs(), s.strict);
  Writer out("-");
  run(text, *vocabulary, s.filter, out);
  out.close();
  warn(text.warnings());
  return 0;
}

int encode(int argc, const char* const* argv) {
  return filter(argc, argv, "cut lines of text into pieces", encode_lines);
}

int decode(int argc, const char* const* argv) {
  return filter(argc, argv, "join pieces into lines of text", decode_lines);
}

int vocab(int argc, const char* const* argv) {
  Settings s;
  Options options("tx-bpe vocab", "list a vocabulary: id, tab, piece");
  add_model_option(options, s);
  if (!options.parse(argc, argv)) return 0;
  Writer out("-");
  write_listing(*open_model(s.model), out);
  out.close();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool(tool, [&] {
    return run_command(tool, "vocabularies of subwords",
                       {{"train", "learn a vocabulary from text", train},
                        {"encode", "cut lines of text into pieces", encode},
                        {"decode", "join pieces into lines of text", decode},
                        {"vocab", "list a vocabulary", vocab}},
                       {}, argc, argv);
  });
}
