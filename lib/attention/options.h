// The options of tx-attn-dump.
#pragma once
#include "lib/attention/selection.h"
#include "lib/search/engine/translator.h"

namespace tx {

constexpr int max_page_mb = 1000;  // of --html-limit

struct DumpOptions {
  // Its models: files or run directories; several only with `live`.
  TranslatorOptions translator;
  std::string qkv;                 // file of matrices to use instead of a model
  std::vector<std::string> files;  // of source lines; none: standard input
  std::string target;              // file of translations to force; "": the model's own
  bool strict = false;
  SelectionOptions selection;
  std::string format, dtype = "f32";  // format "": the default
  bool align = false;                 // alignments instead of records
  std::string align_dev;              // file to choose a head with; "": the selection's mean
  std::string stats;      // "heads", "pairs", "scores" or "importance" instead of records
  std::string out = "-";  // file
  int digits = 6;
  bool heatmap = false;
  int width = 0;  // of a heatmap; 0: the terminal's
  std::string html;
  int html_limit = 0;            // MB; 0: the default, see page_limit()
  bool live = false;             // a page that contains the models and runs them
  std::string weights = "int8";  // of a live page: "int8" or "f16"
  std::string svg, token;
  bool apart = false;
  std::string color = "auto";  // of a heatmap

  DumpOptions() {
    translator.max_source = 256;
    translator.precision = Precision::fp32;
  }
  void describe(Options& options);
  const std::string& model() const { return translator.models.front(); }
  int64_t page_limit() const;  // of the sentences, or of a live page, in bytes
  // UsageError: several models, standard input used twice, or --format safetensors without -o.
  void check() const;
  // UsageError: an option that does not apply to the model's kind.
  void check_model(const Options& options) const;
};

}  // namespace tx
