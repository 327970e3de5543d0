// tx-convert: one model in, another form of it out. What stands in the input says what it is; what
// comes out is tx's own file, or a folder for another program.
#pragma once
#include <string>

#include "lib/base/log.h"
#include "lib/cli/options.h"
#include "lib/subword/languages.h"

namespace tx {

struct ConvertOptions {
  std::string input;         // a model of tx, its run directory, or a folder of another toolkit
  std::string out;           // a model file, or the folder that is made
  std::string to = "tx";     // "tx", or the toolkit to write for
  int max_positions = 1024;  // rows of computed positions where the other program wants a table
  LanguageChoice languages;  // for the model's file to state
  bool quiet = false;

  void describe(Options& options);
  void resolve() const;  // UsageError for what does not go together
};

// Writes all or nothing. DataError names the file or the setting that cannot be carried over;
// UsageError where the output exists and is no model.
void convert_model(const ConvertOptions& options, const Log& log);

}  // namespace tx
