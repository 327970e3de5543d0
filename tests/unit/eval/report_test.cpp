#include "lib/eval/report/report.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(report)

BOOST_AUTO_TEST_CASE(figures_are_rounded_as_their_doubles) {
  BOOST_TEST(tx::fixed(27.35, 1) == "27.4");
  BOOST_TEST(tx::fixed(2.675, 2) == "2.67");
  BOOST_TEST(tx::fixed(0, 3) == "0.000");
  BOOST_TEST(tx::fixed(62848, 0) == "62848");
}

BOOST_AUTO_TEST_CASE(line_and_json) {
  tx::Score score{"BLEU", "nrefs:1|case:lc|version:2.6.0", 27.349, "50.0/40.0", {{"total", {1}}},
                  {}};
  BOOST_TEST(tx::score_line(score, 1) == "BLEU|nrefs:1|case:lc|version:2.6.0 = 27.3 50.0/40.0");
  BOOST_TEST(tx::to_text(tx::score_json(score, 2)) ==
             R"({"name":"BLEU","score":27.35,"signature":"nrefs:1|case:lc|version:2.6.0",)"
             R"("verbose_score":"50.0/40.0","nrefs":"1","case":"lc","version":"2.6.0",)"
             R"("statistics":{"total":[1]}})");
}

BOOST_AUTO_TEST_CASE(lines_of_several_metrics_stand_below_each_other) {
  const tx::Score one{"A", "x:1", 1, "d", {}, {}};
  const tx::Score two{"Long", "y:12", 2, "", {}, tx::Confidence{2.04, 0.5}};
  BOOST_TEST(tx::score_lines({one, two}, 1) ==
             "    A|x:1 = 1.0 d\nLong|y:12 = 2.0 (μ = 2.0 ± 0.5)\n");
}

BOOST_AUTO_TEST_CASE(tables_are_aligned_by_characters) {
  const tx::Score one{"A", "x:1", 1, "d", {}, tx::Confidence{1.06, 0.5}};
  const tx::Score two{"A", "x:1", 12, "d", {}, tx::Confidence{2, 0.5}};
  const std::vector<tx::TableRow> rows = {{"ä", {one}, {{}}}, {"bcdefgh", {two}, {0.05}}};
  BOOST_TEST(tx::table_text(rows, 1) ==
             "System   A (μ ± 95% CI)\n"
             "ä        1.0 (1.1 ± 0.5)\n"
             "bcdefgh  12.0 (2.0 ± 0.5) (p = 0.0500)*\n"
             "\n"
             "A|x:1\n");
  BOOST_TEST(tx::to_text(tx::table_json(rows, 1)[1]) ==
             R"({"system":"bcdefgh","A":{"score":12.0,"p_value":0.05,"mean":2.0,"ci":0.5,)"
             R"("signature":"x:1"}})");
}

BOOST_AUTO_TEST_SUITE_END()
