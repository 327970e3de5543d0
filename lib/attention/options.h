// What a user chooses about a dump of attention.
#pragma once
#include "lib/attention/selection.h"
#include "lib/search/engine/translator.h"

namespace tx {

struct DumpOptions {
  std::string model;               // -m: a file or a run directory
  std::vector<std::string> files;  // of source lines; none: standard input
  std::string target;              // file of translations to force; "": the model's own
  bool strict = false;
  SelectionOptions selection;
  std::string format, dtype = "f32";  // format "": what is usual
  bool align = false;                 // alignments in place of records
  std::string align_dev;              // file to choose a head by; "": the selection's mean
  std::string stats;                  // "heads" or "pairs": statistics in place of records
  std::string out = "-";              // file
  int digits = 6;
  bool heatmap = false;
  int width = 0;  // of a heatmap; 0: the terminal's
  std::string html;
  int html_limit = 32;  // MB of sentences
  std::string svg, token;
  bool apart = false;
  std::string color = "auto";  // of a heatmap
  TranslatorOptions translator;

  DumpOptions() {
    translator.max_source = 256;
    translator.precision = "fp32";
  }
  void describe(Options& options);
  // UsageError where standard input would have to be two files, or a file of arrays has no name.
  void check() const;
  // Looks at the model's kind; UsageError for an option that it does not have.
  void check_model(const Options& options) const;
};

}  // namespace tx
