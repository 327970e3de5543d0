// The options of tx-decode.
#pragma once
#include <string>
#include <vector>

#include "lib/search/lines.h"

namespace tx {

struct DecodeOptions {
  TranslatorOptions translator;
  LineOptions lines;
  std::vector<std::string> files;  // text; none: standard input
  std::string target;              // translations to score
  std::string status;              // where a record for each line goes
  std::string compare;             // a model whose translations are compared with those of -m
  std::string compare_precision = "auto";
  bool pieces = false, ids = false, strict = false, check_invariance = false, quiet = false,
       describe_only = false;

  void describe(Options& options);
  std::string description() const;     // of the models, for --describe
  TranslatorOptions compared() const;  // those of the translator with `compare`
  // Fills in what follows from the options given. UsageError: they contradict each other.
  void resolve(const Options& options);
};

}  // namespace tx
