// The commands of tx-bpe: describe(), parse the command line, run(), once.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/log.h"
#include "lib/base/resources.h"
#include "lib/base/workers.h"
#include "lib/cli/options.h"
#include "lib/subword/subword.h"
#include "lib/subword/subword_nmt/codes.h"
#include "lib/subword/token_lines.h"
#include "lib/text/corpus.h"

namespace tx {

// The text that a command reads.
struct TextOptions {
  std::vector<std::string> files;  // none: standard input
  bool strict = false;
  int threads = available_cpus();

  void describe(Options& options);
  TextReader open() const;
  int limited_threads(const Log& log) const;  // threads, or fewer if the system allows fewer
};

// tx-bpe train: text to vocabulary.
struct TrainCommand {
  static constexpr char summary[] = "learn a vocabulary from text";
  std::string output, type = "bpe", symbols;
  std::optional<int> vocab_size, sample;
  uint64_t seed = 1;  // of the sample
  SubwordTraining training;
  TextOptions text;

  void describe(Options& options);
  void run(const Log& log);
};

// tx-bpe encode: text to tokens.
struct EncodeCommand {
  static constexpr char summary[] = "split text into tokens";
  std::string model, codes;  // one of them
  EncodeOptions encode;
  CodesOptions apply;  // its vocabulary and threshold also restrict the tokens of a model
  TextOptions text;

  void describe(Options& options);
  void run(const Log& log);
};

// tx-bpe decode: tokens to text.
struct DecodeCommand {
  static constexpr char summary[] = "join tokens into text";
  std::string model, separator;  // one of them
  bool ids = false;
  TextOptions text;

  void describe(Options& options);
  void run(const Log& log);
};

// tx-bpe shortlist: parallel text with alignments, or a table, to tx-shortlist(5).
struct ShortlistCommand {
  static constexpr char summary[] = "write a lexical shortlist for tx-decode";
  std::string model, source, target, links, table, output, unit = "words";
  int first = 1000, best = 100;

  void describe(Options& options);
  void run(const Log& log);
};

// tx-bpe vocab: lists a vocabulary, or counts its tokens in a text.
struct VocabCommand {
  static constexpr char summary[] = "list a vocabulary: id, token and score, separated by tabs";
  std::string model;
  bool counts = false;
  TextOptions text;

  void describe(Options& options);
  void run(const Log& log);
};

}  // namespace tx
