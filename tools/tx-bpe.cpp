// tx-bpe: subword models: train one, cut text into pieces, join pieces into text.
#include <optional>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/log.h"
#include "lib/base/workers.h"
#include "lib/cli/options.h"
#include "lib/text/corpus.h"
#include "lib/text/encode.h"
#include "lib/text/filter.h"
#include "lib/text/piece_counts.h"
#include "lib/text/subword.h"
#include "lib/text/words.h"

namespace {

using namespace tx;

constexpr char tool[] = "tx-bpe";

struct Settings {
  std::string model, output, vocab = "bpe", pieces;
  std::vector<std::string> files;
  std::optional<int> vocab_size, threshold;
  SubwordTraining training;
  EncodeOptions encode;
  int threads = available_cpus();
  bool strict = false, ids = false, counts = false;

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
  options.add("--threads", s.threads, "N", "threads to use")
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
      count_words([&](std::string& line) { return text.next(line); }, s.threads);
  warn(text.warnings());
  s.training.vocab_size = s.vocab_size.value_or(s.training.vocab_size);
  const bool words = s.vocab == "words";
  const std::string bytes =
      words ? train_words(counts, s.vocab_size.value_or(0)) : train_subword(counts, s.training);
  write_model(s.output, bytes);
  warn(describe_shortfall(*parse_vocabulary(bytes, s.output), words ? 0 : s.training.vocab_size));
  return 0;
}

void add_encode_options(Options& options, Settings& s) {
  EncodeOptions& e = s.encode;
  options.flag("--ids", e.ids, "numbers in place of pieces");
  options.flag("--bos", e.bos, "begin each line with <s>");
  options.flag("--eos", e.eos, "end each line with </s>");
  options
      .add("--max-pieces", e.max_pieces, "N", "the most pieces of a line",
           "The pieces behind them are left out, with a warning that counts such lines; <s> and "
           "</s> are not counted.")
      .at_least(1)
      .default_is("all");
  options
      .add("--dropout", e.dropout.probability, "P", "leave out merges with this probability",
           "BPE-dropout (Provilkov et al., 2020), for training data alone: whenever the best merge "
           "is sought, each possible one is left out with probability P. At 0 the usual pieces "
           "come, at 1 single characters.")
      .range(0, 1);
  options
      .add("--seed", e.dropout.seed, "N", "seed of --dropout",
           "What is left out depends on the seed and on the number and text of the line alone.")
      .range(0, 4294967295.0);
  options.add(
      "--vocabulary", s.pieces, "FILE", "use only the pieces listed",
      "One a line, with a tab or a space and its count behind it, as tx-bpe vocab --counts, "
      "spm_encode --generate_vocabulary and subword-nmt get-vocab write them. A piece that "
      "is not listed is parted into smaller ones, down to characters.");
  options.add("--vocabulary-threshold", s.threshold, "N", "and only those counted N times or more");
  options.flag("--stats", e.count,
               "tell pieces a word, the share of bytes and the longest line on standard error");
}

// Vocabulary, restricted where that is asked for.
std::unique_ptr<Vocabulary> open_restricted(const Settings& s) {
  if (s.threshold && s.pieces.empty())
    throw UsageError("--vocabulary-threshold goes with --vocabulary FILE");
  auto vocabulary = open_model(s.model);
  if (!s.pieces.empty()) vocabulary->restrict_to(read_pieces(s.pieces, s.threshold));
  return vocabulary;
}

int encode(int argc, const char* const* argv) {
  Settings s;
  Options options("tx-bpe encode", "cut lines of text into pieces");
  options.usage("tx-bpe encode -m bpe.model < FILE");
  add_model_option(options, s);
  add_encode_options(options, s);
  add_text_options(options, s);
  if (!options.parse(argc, argv)) return 0;
  const auto vocabulary = open_restricted(s);
  const LineEncoder encoder = line_encoder(*vocabulary, s.encode);
  TextReader text(s.inputs(), s.strict);
  Writer out("-");
  const EncodeReport report = encode_lines(text, encoder, s.threads, out);
  out.close();
  warn(text.warnings());
  warn(warnings(report, text, s.encode.max_pieces));
  if (s.encode.count) Log(tool).info(describe(report, text));
  return 0;
}

int decode(int argc, const char* const* argv) {
  Settings s;
  Options options("tx-bpe decode", "join pieces into lines of text");
  options.usage("tx-bpe decode -m bpe.model < FILE");
  add_model_option(options, s);
  options.flag("--ids", s.ids, "numbers in place of pieces");
  add_text_options(options, s);
  if (!options.parse(argc, argv)) return 0;
  const auto vocabulary = open_model(s.model);
  TextReader text(s.inputs(), s.strict);
  Writer out("-");
  decode_lines(text, *vocabulary, s.ids, s.threads, out);
  out.close();
  warn(text.warnings());
  return 0;
}

int vocab(int argc, const char* const* argv) {
  Settings s;
  Options options("tx-bpe vocab", "list a vocabulary: id, tab, piece, tab, score");
  options.usage("tx-bpe vocab -m bpe.model");
  options.usage("tx-bpe vocab -m bpe.model --counts FILE...");
  add_model_option(options, s);
  options.flag("--counts", s.counts, "count the pieces of a text instead: piece, tab, count",
               "The most frequent first; pieces that do not occur are left out.");
  add_text_options(options, s);
  if (!options.parse(argc, argv)) return 0;
  if (!s.counts && !s.files.empty()) throw UsageError("a FILE goes with --counts");
  const auto vocabulary = open_model(s.model);
  Writer out("-");
  if (s.counts) {
    TextReader text(s.inputs(), s.strict);
    write_counts(count_pieces(text, *vocabulary, s.threads), '\t', out);
    warn(text.warnings());
  } else {
    write_listing(*vocabulary, out);
  }
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
