// Bracketing F1 against EVALB: brackets.jsonl is made by make_brackets.py.
#include <boost/test/unit_test.hpp>

#include "lib/base/io.h"
#include "lib/base/json.h"
#include "tests/scoring_options.h"

using tx::Json;

BOOST_AUTO_TEST_SUITE(golden_brackets)

BOOST_AUTO_TEST_CASE(equal_evalb) {
  tx::LineReader reader(TX_SOURCE_DIR "/tests/golden/brackets.jsonl");
  const auto f1 = tx_test::metric({"--metric", "f1", "--skip-malformed"});
  int compared = 0, left_out = 0;
  for (std::string line; reader.next(line); ++compared) {
    const Json pair = tx::parse_json(line, reader.name());
    const std::string reference = pair[0], hypothesis = pair[1];
    tx::Statistics sums(f1->size(), 0.0);
    f1->add(hypothesis, {&reference, 1}, sums);
    const bool out = sums[4] == 0;
    BOOST_TEST_CONTEXT(line) {
      BOOST_TEST(out == pair[2].is_null());
      if (!out && !pair[2].is_null()) {
        BOOST_TEST(sums[0] == pair[2][0].get<double>());
        BOOST_TEST(sums[2] == pair[2][1].get<double>());
        BOOST_TEST(sums[1] == pair[2][2].get<double>());
      }
    }
    left_out += out ? 1 : 0;
  }
  BOOST_TEST(compared == 400);
  BOOST_TEST(left_out > 20);
}

BOOST_AUTO_TEST_SUITE_END()
