// BLEU against sacreBLEU: bleu.jsonl is made by make_bleu.py.
#include "lib/eval/bleu.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/eval/report.h"

using tx::Json;

namespace {

tx::Score score_of(const Json& text, const tx::BleuOptions& options) {
  tx::Bleu bleu(options);
  tx::Statistics sums(bleu.size(), 0.0);
  for (size_t i = 0; i < text["hypotheses"].size(); ++i) {
    std::vector<std::string> references;
    for (const Json& file : text["references"]) references.push_back(file[i]);
    bleu.add(text["hypotheses"][i].get<std::string>(), references, sums);
  }
  return bleu.score(sums, int(text["references"].size()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(golden_bleu)

BOOST_AUTO_TEST_CASE(equals_sacrebleu) {
  tx::LineReader reader(TX_SOURCE_DIR "/tests/golden/bleu.jsonl");
  int compared = 0;
  for (std::string line; reader.next(line);) {
    const Json text = tx::parse_json(line, reader.name());
    for (const Json& expected : text["expected"]) {
      const tx::BleuOptions options{expected["tokenizer"], expected["lowercase"]};
      const tx::Score score = score_of(text, options);
      BOOST_TEST_CONTEXT(text["name"] << " " << options.tokenizer << " " << options.lowercase) {
        BOOST_TEST(tx::score_line(score, 12) == expected["line"].get<std::string>());
        BOOST_TEST(score.statistics["matched"] == expected["matched"]);
        BOOST_TEST(score.statistics["total"] == expected["total"]);
      }
      ++compared;
    }
  }
  BOOST_TEST(compared >= 300);
}

BOOST_AUTO_TEST_SUITE_END()
