// Lines of text in, the attention of each out: a record or a drawing a line, in order.
#pragma once
#include "lib/attention/heatmap.h"
#include "lib/base/io.h"
#include "lib/base/log.h"
#include "lib/search/translator.h"

namespace tx {

struct DumpOptions {
  std::string model;               // -m: a file or a run directory
  std::vector<std::string> files;  // of source lines; none: standard input
  std::string target;              // file of translations to force; "": the model's own
  bool strict = false;
  SelectionOptions selection;
  int digits = 6;
  bool heatmap = false;
  int width = 0;  // of a heatmap; 0: the terminal's
  TranslatorOptions translator;

  DumpOptions() {
    translator.max_source = 256;
    translator.precision = "fp32";
  }
  void describe(Options& options);
};

// What has arrived is answered and flushed when the input pauses. A blank line has an empty record.
// With a target, files of different line counts are a DataError that gives both counts, once the
// lines that belong together are written.
void dump_attention(const DumpOptions& options, Writer& out, const Log& log);

}  // namespace tx
