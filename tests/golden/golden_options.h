// Metrics as the golden files of make_scores.py and make_resampling.py name them.
#pragma once
#include <string>

#include "lib/base/json.h"
#include "tests/scoring_options.h"

inline std::unique_ptr<tx::Metric> golden_metric(const tx::Json& setting) {
  const std::string name = setting["metric"];
  const bool chrf = name == "chrf";
  std::vector<std::string> words;
  const auto option = [&](const char* key, const char* option) {
    if (!setting.contains(key)) return;
    const tx::Json& value = setting[key];
    if (value == false) return;
    words.push_back(option);
    if (value.is_string()) {
      words.push_back(value);
    } else if (value.is_number()) {
      words.push_back(tx::to_text(value));
    }
  };
  option("metric", "--metric");
  option("tokenizer", "--tokenize");
  if (setting.value("tokenizer", "") == "flores101")
    words.insert(words.end(), {"-m", TX_SOURCE_DIR "/tests/golden/scores.model"});
  option("lowercase", chrf ? "--chrf-lowercase" : "--lowercase");
  option("smoothing", "--smooth");
  option("smoothing_value", "--smooth-value");
  option("max_order", "--max-order");
  option("effective_order", "--effective-order");
  option("char_order", "--chrf-char-order");
  option("word_order", "--chrf-word-order");
  option("beta", "--chrf-beta");
  option("space", "--chrf-whitespace");
  option("eps_smoothing", "--chrf-eps-smoothing");
  option("case_sensitive", "--ter-case-sensitive");
  option("normalize", "--ter-normalized");
  option("no_punctuation", "--ter-no-punct");
  option("asian", "--ter-asian-support");
  return tx_test::metric(words);
}
