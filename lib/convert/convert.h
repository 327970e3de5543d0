// tx-convert: reads a model of another toolkit and writes a tx model, or reads a tx model and
// writes the directory of another program. The files of the input say which toolkit it is from.
#pragma once
#include <string>

#include "lib/base/log.h"
#include "lib/cli/options.h"
#include "lib/convert/families/names.h"
#include "lib/subword/languages.h"

namespace tx {

struct ConvertOptions {
  std::string input;         // a tx model, a run directory, or another toolkit's directory
  std::string out;           // a model file, or a directory to create
  std::string to = "tx";     // "tx", or the toolkit to write for
  int max_positions = 1024;  // rows of a sinusoid table, where the format needs one
  std::string calibration;   // a text; "": the ranges of activations are not written
  std::string shortlist;     // a file; "": none
  NamesOptions names;        // of a PyTorch model; without a table: another format
  LanguageChoice languages;  // stored in the model file as its defaults
  bool quiet = false;

  void describe(Options& options);
  void resolve() const;  // UsageError: options that exclude each other
};

// Writes all or nothing. DataError names what is not supported; UsageError: the output exists.
void convert_model(const ConvertOptions& options, const Log& log);

}  // namespace tx
