// All metrics against sacreBLEU: scores.jsonl.gz and scores.model are made by make_scores.py.
#include <boost/test/unit_test.hpp>
#include <regex>
#include <string>
#include <vector>

#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/base/utf8.h"
#include "lib/eval/report/report.h"
#include "lib/eval/tokenizers/unicode.h"
#include "tests/golden/golden_options.h"

using tx::Json;

namespace {

const std::string folder = TX_SOURCE_DIR "/tests/golden/";

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(char(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  tx::repair_utf8(bytes);
  return bytes;
}

tx::Statistics sums_of(tx::Metric& metric, const Json& text) {
  const auto line = [&](const Json& value) {  // stripped, as sacreBLEU's command reads it
    const auto stored = value.get<std::string>();
    return std::string(tx::strip_right(text["hex"].get<bool>() ? from_hex(stored) : stored));
  };
  tx::Statistics sums(metric.size(), 0.0);
  for (size_t i = 0; i < text["hypotheses"].size(); ++i) {
    std::vector<std::string> references;
    for (const Json& file : text["references"]) references.push_back(line(file[i]));
    metric.add(line(text["hypotheses"][i]), references, sums);
  }
  return sums;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(golden_scores)

// tx's signature has the hash of the tokenizer's model, sacreBLEU's only its name.
std::string without_hash(const std::string& line) {
  return std::regex_replace(line, std::regex(R"((\|tok:[^|\[]+)\[[0-9a-f]{16}\])"), "$1");
}

BOOST_AUTO_TEST_CASE(equal_sacrebleu) {
  tx::LineReader reader(folder + "scores.jsonl.gz");
  std::string line;
  BOOST_REQUIRE(reader.next(line));
  const Json settings = tx::parse_json(line, reader.name())["settings"];
  int compared = 0;
  while (reader.next(line)) {
    const Json text = tx::parse_json(line, reader.name());
    const std::string run = "nrefs:" + std::to_string(text["references"].size());
    for (size_t i = 0; i < settings.size(); ++i) {
      const auto metric = golden_metric(settings[i]);
      const tx::Statistics sums = sums_of(*metric, text);
      tx::Score score = metric->score(sums);
      score.signature = tx::signature(*metric, run);
      const Json& expected = text["expected"][i];
      BOOST_TEST_CONTEXT(text["name"] << " " << settings[i]) {
        BOOST_TEST(without_hash(tx::score_line(score, 12)) == expected[0].get<std::string>());
        BOOST_TEST(sums == expected[1].get<tx::Statistics>(), boost::test_tools::per_element());
      }
      ++compared;
    }
  }
  BOOST_TEST(compared >= 2000);
}

BOOST_AUTO_TEST_SUITE_END()
