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
  bool pieces = false, ids = false, strict = false, check_invariance = false, quiet = false;

  void describe(Options& options);
  // Fills in what follows from the options given. UsageError: they contradict each other.
  void resolve(const Options& options);
};

}  // namespace tx
