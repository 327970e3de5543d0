#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/eval/report/report.h"
#include "tests/scoring_options.h"

using tx::Metric;
using tx::Statistics;
using Lines = std::vector<std::string>;

namespace {

// references[file][line]
Statistics sums_of(Metric& bleu, const Lines& hypotheses, const std::vector<Lines>& references) {
  Statistics sums(bleu.size(), 0.0);
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    Lines segment;
    for (const Lines& file : references) segment.push_back(file[i]);
    bleu.add(hypotheses[i], segment, sums);
  }
  return sums;
}

double bleu_of(const Lines& hypotheses, const std::vector<Lines>& references) {
  const auto bleu = tx_test::metric({});
  const Statistics sums = sums_of(*bleu, hypotheses, references);
  return bleu->value(std::span<const double>(sums));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bleu)

// 5 of 6 words, 3 of 5 pairs, 2 of 4 triples, 1 of 3 quadruples; as long as the reference.
BOOST_AUTO_TEST_CASE(follows_the_formula) {
  const double expected = 100 * std::pow(5.0 / 6 * 3.0 / 5 * 2.0 / 4 * 1.0 / 3, 0.25);
  BOOST_TEST(bleu_of({"the cat sat on a mat"}, {{"the cat sat on the mat"}}) == expected,
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(short_hypotheses_pay_the_brevity_penalty) {
  BOOST_TEST(bleu_of({"a b c d"}, {{"a b c d e"}}) == 100 * std::exp(1 - 5.0 / 4),
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(a_hypothesis_equal_to_its_reference_scores_100) {
  BOOST_TEST(tx::fixed(bleu_of({"a b c d e"}, {{"a b c d e"}}), 10) == "100.0000000000");
}

// A repeated word matches as often as it occurs in one reference, not in all of them together.
BOOST_AUTO_TEST_CASE(matches_are_clipped_by_the_best_reference) {
  const auto bleu = tx_test::metric({});
  const Statistics sums = sums_of(*bleu, {"the the the the"}, {{"the cat the"}, {"the dog"}});
  BOOST_TEST(sums[2] == 2);
}

BOOST_AUTO_TEST_CASE(of_references_as_close_the_shorter_counts) {
  const auto bleu = tx_test::metric({});
  BOOST_TEST(sums_of(*bleu, {"a b c"}, {{"a b c d"}, {"a b"}})[1] == 2);
  BOOST_TEST(sums_of(*bleu, {"a b c"}, {{"a"}, {"a b c d"}, {"a b c d e"}})[1] == 4);
}

BOOST_AUTO_TEST_CASE(statistics_of_parts_add_up) {
  const auto bleu = tx_test::metric({});
  const Lines hypotheses = {"a b c d e", "b c d e f g", ""};
  const std::vector<Lines> references = {{"a b c x e", "b c d e f", "h"}};
  const Statistics whole = sums_of(*bleu, hypotheses, references);
  Statistics added(bleu->size(), 0.0);
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const Statistics one = sums_of(*bleu, {hypotheses[i]}, {{references[0][i]}});
    for (size_t k = 0; k < one.size(); ++k) added[k] += one[k];
  }
  BOOST_TEST(whole == added, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(smoothing_values_belong_to_their_methods) {
  const auto settings = [](std::vector<std::string> words) {
    return tx_test::metric(words)->settings();
  };
  BOOST_CHECK_THROW(settings({"--smooth-value", "0.5"}), tx::UsageError);
  BOOST_TEST(settings({"--smooth", "floor", "--smooth-value", "0.5"}) ==
             "case:mixed|eff:no|tok:13a|smooth:floor[0.50]");
  BOOST_TEST(settings({"--smooth", "add-k"}) == "case:mixed|eff:no|tok:13a|smooth:add-k[1.00]");
  BOOST_CHECK_THROW(settings({"--smooth", "cap"}), tx::UsageError);
}

BOOST_AUTO_TEST_SUITE_END()
