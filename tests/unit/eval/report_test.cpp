#include "lib/eval/report.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(report)

BOOST_AUTO_TEST_CASE(figures_are_rounded_as_their_doubles) {
  BOOST_TEST(tx::fixed(27.35, 1) == "27.4");
  BOOST_TEST(tx::fixed(2.675, 2) == "2.67");
  BOOST_TEST(tx::fixed(0, 3) == "0.000");
  BOOST_TEST(tx::fixed(62848, 0) == "62848");
}

BOOST_AUTO_TEST_CASE(line_and_json) {
  const tx::Score score{
      "BLEU", "nrefs:1|case:lc|version:2.6.0", 27.349, "50.0/40.0", {{"total", {1}}}};
  BOOST_TEST(tx::score_line(score, 1) == "BLEU|nrefs:1|case:lc|version:2.6.0 = 27.3 50.0/40.0");
  BOOST_TEST(tx::to_text(tx::score_json(score, 2)) ==
             R"({"name":"BLEU","score":27.35,"signature":"nrefs:1|case:lc|version:2.6.0",)"
             R"("verbose_score":"50.0/40.0","nrefs":"1","case":"lc","version":"2.6.0",)"
             R"("statistics":{"total":[1]}})");
}

BOOST_AUTO_TEST_SUITE_END()
