// The options of metrics as the golden files of make_scores.py and make_resampling.py name them.
#pragma once
#include <string>

#include "lib/base/json.h"
#include "lib/eval/metrics/metrics.h"

inline tx::MetricOptions metric_options(const tx::Json& setting) {
  const auto take = [&](const char* key, auto& field) {
    using Field = std::remove_reference_t<decltype(field)>;
    if (setting.contains(key)) field = setting[key].template get<Field>();
  };
  tx::MetricOptions options;
  take("metric", options.names);
  take("tokenizer", options.bleu.tokenizer);
  if (options.bleu.tokenizer == "flores101") {
    options.bleu.model = TX_SOURCE_DIR "/tests/golden/scores.model";
  }
  take("lowercase", options.bleu.lowercase);
  take("smoothing", options.bleu.smoothing);
  if (setting.contains("smoothing_value")) {
    options.bleu.smoothing_value = setting["smoothing_value"].get<double>();
  }
  take("max_order", options.bleu.max_order);
  take("effective_order", options.bleu.effective_order);
  take("char_order", options.chrf.char_order);
  take("word_order", options.chrf.word_order);
  take("beta", options.chrf.beta);
  take("lowercase", options.chrf.lowercase);
  take("space", options.chrf.space);
  take("eps_smoothing", options.chrf.eps_smoothing);
  take("case_sensitive", options.ter.case_sensitive);
  take("normalize", options.ter.normalize);
  take("no_punctuation", options.ter.no_punctuation);
  take("asian", options.ter.asian);
  return options;
}
