// tx-bpe: subword models: train one, cut text into pieces, join pieces into text.
#include <filesystem>
#include <optional>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/log.h"
#include "lib/base/outputs.h"
#include "lib/base/workers.h"
#include "lib/checkpoint/model_file.h"
#include "lib/cli/options.h"
#include "lib/subword/encode.h"
#include "lib/subword/filter.h"
#include "lib/subword/piece_counts.h"
#include "lib/subword/sample.h"
#include "lib/subword/subword.h"
#include "lib/subword/subword_nmt/codes.h"
#include "lib/subword/words.h"
#include "lib/text/corpus.h"
#include "lib/text/read_progress.h"

namespace {

using namespace tx;

constexpr char tool[] = "tx-bpe";

struct Settings {
  std::string model, codes, separator, output, type = "bpe", symbols;
  std::vector<std::string> files;
  std::optional<int> vocab_size, sample;
  SubwordTraining training;
  EncodeOptions encode;
  CodesOptions apply;  // of --codes
  uint64_t seed = 1;
  int threads = available_cpus();
  bool strict = false, ids = false, counts = false;

  std::vector<std::string> inputs() const {
    return files.empty() ? std::vector<std::string>{"-"} : files;
  }
};

void warn(const std::vector<std::string>& messages) {
  for (const std::string& message : messages) Log(tool).warn(message);
}

int threads_of(const Settings& s) {
  int threads = s.threads;
  limit_threads(threads, Log(tool));
  return threads;
}

void add_text_options(Options& options, Settings& s) {
  options.flag(
      "--strict", s.strict, "stop at the first line that is not valid UTF-8",
      "Otherwise such bytes are replaced by U+FFFD, counted, and the first line is named.");
  options.threads(s.threads, "The result does not depend on their number.");
  options.positional("FILE", s.files, "text, plain or gzip; standard input when left out");
}

void add_model_option(Options& options, Settings& s) {
  options.add("-m,--model", s.model, "FILE", "the subword model, word list or trained model")
      .must();
}

// What -m names: a vocabulary, or the one inside a model, of its target side or its source side.
std::unique_ptr<Vocabulary> open_model(const std::string& path, bool target = false) {
  if (!names_model(path)) return load_vocabulary(path);
  const ModelReader model(path);
  const Vocabularies& inside = model.vocabularies();
  return parse_vocabulary((target ? inside.target() : inside.source()).bytes(), model.path());
}

// Neither the text nor anything else that is no vocabulary is overwritten.
void check_place(const Settings& s) {
  std::vector<std::string> inputs = s.files;
  inputs.push_back(s.symbols);
  check_output(s.output, inputs);
  std::error_code error;
  if (!std::filesystem::is_regular_file(s.output, error)) return;
  if (std::filesystem::file_size(s.output, error) == 0) return;
  try {
    load_vocabulary(s.output);
  } catch (const DataError&) {
    throw UsageError("--out " + s.output +
                     " exists and is not a vocabulary: choose another name, or remove it");
  }
}

void write_model(const std::string& path, const std::string& bytes) {
  if (path != "-") return write_atomically(path, bytes);
  Writer out(path);
  out.write(bytes);
  out.close();
}

void add_train_options(Options& options, Settings& s) {
  options.add("-o,--out", s.output, "FILE", "where the vocabulary goes").must();
  options.add("--type", s.type, "bpe|words", "what to learn: subword pieces or plain words")
      .one_of({"bpe", "words"})
      .was("--vocab");
  options.add("--vocab-size", s.vocab_size, "N", "largest number of entries, special ones included")
      .range(5, 1000000)
      .default_is("8000 pieces, or every word")
      .more("A small text gives fewer, with a warning that tells how many.");
  options
      .add("--character-coverage", s.training.character_coverage, "SHARE",
           "share of the text's characters that become pieces")
      .range(0.98, 1)
      .was("--coverage")
      .excludes({"--type words"})
      .more("The rest is carried as bytes.");
  options
      .add("--user-symbols", s.symbols, "FILE", "pieces that always stand alone, one per line",
           "Wherever such a text occurs it becomes that one piece; of several the longest wins. "
           "They count as entries.")
      .excludes({"--type words"});
  options.flag("--split-digits", s.training.split_digits, "make each digit a piece of its own")
      .excludes({"--type words"});
  options
      .add("--normalization", s.training.normalization, "identity|nfkc|nmt_nfkc",
           "what to do to text before it is cut, here and in every use of the model",
           "nfkc is Unicode's compatibility form; nmt_nfkc also turns odd white space into "
           "spaces. What either changes does not come back.")
      .one_of({"identity", "nfkc", "nmt_nfkc"})
      .excludes({"--type words"});
  options.add("--sample", s.sample, "N", "learn from N lines drawn from the text")
      .at_least(1)
      .default_is("every line")
      .more("Then memory is bounded by N lines, whatever the length of the text.");
  options.add("--seed", s.seed, "N", "seed of --sample").needs({"--sample"});
}

// Lines of the text, or a sample of them, that tell on a terminal how far they are.
WordCounts read_counts(TextReader& text, const Settings& s, ReadProgress& progress) {
  const LineSource lines = [&](std::string& line) {
    if (!text.next(line)) return false;
    progress.add(line);
    return true;
  };
  if (!s.sample) return count_words(lines, threads_of(s));
  return count_words(source_of(sample_lines(lines, *s.sample, s.seed)), threads_of(s));
}

int train(int argc, const char* const* argv) {
  Settings s;
  Options options("tx-bpe train", "learn a vocabulary from text");
  options.usage("tx-bpe train --vocab-size 8000 -o bpe.model FILE...");
  add_train_options(options, s);
  add_text_options(options, s);
  if (!options.parse(argc, argv)) return 0;
  const bool words = s.type == "words";
  check_place(s);
  if (!s.symbols.empty()) s.training.user_symbols = read_user_symbols(s.symbols);
  TextReader text(s.inputs(), s.strict);
  const Log log(tool);
  std::optional<ReadProgress> progress(log);
  const WordCounts counts = read_counts(text, s, *progress);
  s.training.vocab_size = s.vocab_size.value_or(s.training.vocab_size);
  progress->say("learning from " + std::to_string(counts.size()) + " different words");
  const std::string bytes =
      words ? train_words(counts, s.vocab_size.value_or(0)) : train_subword(counts, s.training);
  progress.reset();
  warn(text.warnings());
  write_model(s.output, bytes);
  warn(describe_shortfall(*parse_vocabulary(bytes, s.output), words ? 0 : s.training.vocab_size));
  return 0;
}

void add_encode_options(Options& options, Settings& s) {
  EncodeOptions& e = s.encode;
  const auto of_model = [](Option& option) -> Option& {
    return option.excludes({"--codes"}, "codes have no ids; take a model (-m)");
  };
  of_model(options.flag("--ids", e.ids, "numbers in place of pieces"));
  of_model(options.flag("--bos", e.bos, "begin each line with <s>"));
  of_model(options.flag("--eos", e.eos, "end each line with </s>"));
  options
      .add("--max-length", e.max_pieces, "N", "largest number of pieces per line",
           "Further pieces are left out, with a warning that counts such lines; <s> and </s> are "
           "not counted.")
      .at_least(1)
      .default_is("all")
      .was("--max-pieces")
      .excludes({"--codes"});
  options
      .add("--bpe-dropout", e.dropout.probability, "P", "leave out merges with this probability",
           "BPE-dropout (Provilkov et al., 2020), for training data alone: whenever the best merge "
           "is sought, each possible one is left out with probability P. 0 gives the usual pieces, "
           "1 single characters.")
      .range(0, 1)
      .was("--dropout");
  options
      .add("--seed", e.dropout.seed, "N", "seed of --bpe-dropout",
           "What is left out depends on the seed and on the number and text of the line alone.")
      .needs({"--bpe-dropout"});
  options.add("--vocabulary", s.apply.vocabulary, "FILE", "use only the pieces listed",
              "One per line, followed by a tab or a space and its count, as tx-bpe vocab --counts, "
              "spm_encode --generate_vocabulary and subword-nmt get-vocab write them. A piece that "
              "is not listed is split into smaller ones, down to characters.");
  options
      .add("--vocabulary-threshold", s.apply.threshold, "N",
           "of these only those counted N times or more")
      .needs({"--vocabulary"});
  options
      .flag("--summary", e.count,
            "report pieces per word, the shares of bytes and <unk>, and the longest line")
      .was("--stats");
  options.group("Codes of subword-nmt").needs({"--codes"});
  options.add("--codes", s.codes, "FILE", "apply these codes in place of a model",
              "Tokenised text becomes, byte for byte, what subword-nmt apply-bpe makes of it.");
  options.add("--separator", s.apply.separator, "TEXT", "ends each piece of a word but the last")
      .may_be_empty();
  options
      .add("--glossaries", s.apply.glossaries, "TEXT", "leave this text whole",
           "A text, or a regular expression, that becomes a piece of its own wherever it stands in "
           "a word.")
      .more("Expressions are not looked for in words of more than 1000 characters.");
  options.add("--merges", s.apply.merges, "N", "use only the first N codes")
      .at_least(0)
      .default_is("all");
}

// Vocabulary, restricted where that is asked for.
std::unique_ptr<Vocabulary> open_restricted(const Settings& s) {
  auto vocabulary = open_model(s.model);
  if (!s.apply.vocabulary.empty())
    vocabulary->restrict_to(read_pieces(s.apply.vocabulary, s.apply.threshold));
  return vocabulary;
}

int encode_by(const LineEncoder& encoder, const Settings& s) {
  TextReader text(s.inputs(), s.strict);
  Writer out("-");
  const EncodeReport report = encode_lines(text, encoder, threads_of(s), out);
  out.close();
  warn(text.warnings());
  warn(warnings(report, text, s.encode.max_pieces));
  if (s.encode.count) Log(tool).info(describe(report, text));
  return 0;
}

int encode(int argc, const char* const* argv) {
  Settings s;
  Options options("tx-bpe encode", "cut lines of text into pieces");
  options.usage("tx-bpe encode -m bpe.model < FILE");
  options.usage("tx-bpe encode --codes codes.bpe < FILE");
  options.add("-m,--model", s.model, "FILE", "the subword model, word list or trained model")
      .excludes({"--codes"});
  add_encode_options(options, s);
  options.group("Input");
  add_text_options(options, s);
  if (!options.parse(argc, argv)) return 0;
  if (s.model.empty() && s.codes.empty())
    throw UsageError("missing option: -m FILE, or --codes FILE");
  if (!s.codes.empty())
    return encode_by(line_encoder(Codes(s.codes, s.apply), s.encode.dropout), s);
  const auto vocabulary = open_restricted(s);
  return encode_by(line_encoder(*vocabulary, s.encode), s);
}

int decode(int argc, const char* const* argv) {
  Settings s;
  Options options("tx-bpe decode", "join pieces into lines of text");
  options.usage("tx-bpe decode -m bpe.model < FILE");
  options.usage("tx-bpe decode --separator @@ < FILE");
  options.add("-m,--model", s.model, "FILE", "the subword model, word list or trained model");
  options
      .add("--separator", s.separator, "TEXT", "join pieces that end in this with the next",
           "In place of a model: @@ takes back what --codes cut.")
      .excludes({"--model", "--ids"});
  options.flag("--ids", s.ids, "numbers in place of pieces").excludes({"--separator"});
  add_text_options(options, s);
  if (!options.parse(argc, argv)) return 0;
  if (s.model.empty() && s.separator.empty())
    throw UsageError("missing option: -m FILE, or --separator TEXT");
  const auto vocabulary = s.model.empty() ? nullptr : open_model(s.model, true);
  TextReader text(s.inputs(), s.strict);
  Writer out("-");
  if (vocabulary)
    decode_lines(text, *vocabulary, s.ids, threads_of(s), out);
  else
    join_lines(text, s.separator, threads_of(s), out);
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
  for (const char* name : {"strict", "FILE"}) options.at(name).needs({"--counts"});
  if (!options.parse(argc, argv)) return 0;
  const auto vocabulary = open_model(s.model);
  Writer out("-");
  if (s.counts) {
    TextReader text(s.inputs(), s.strict);
    write_counts(count_pieces(text, *vocabulary, threads_of(s)), '\t', out);
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
