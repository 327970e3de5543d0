// The utility of a sample is its mean score against the other samples.
#include "lib/search/lines/minimum_risk.h"

#include <boost/test/unit_test.hpp>

#include "lib/eval/metrics.h"

using namespace tx;

namespace {

std::unique_ptr<Metric> metric_of(const char* name) {
  auto metric = make_metric(name);
  metric->score_segments();
  return metric;
}

double score(Metric& metric, const std::string& hypothesis, const std::string& reference) {
  std::vector<double> sums(metric.size());
  metric.add(hypothesis, std::span(&reference, 1), sums);
  return metric.value(std::span<const double>(sums));
}

}  // namespace

BOOST_AUTO_TEST_CASE(mean_scores_against_the_others) {
  const std::vector<std::string> texts = {"a cat sat there", "a cat sat here", "a cat sat there",
                                          "the dog ran off"};
  for (const char* name : {"bleu", "chrf"}) {
    const auto metric = metric_of(name);
    const std::vector<double> found = utilities(texts, *metric);
    BOOST_REQUIRE(found.size() == texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      double sum = 0;
      for (size_t j = 0; j < texts.size(); ++j)
        if (j != i) sum += score(*metric, texts[i], texts[j]);
      BOOST_TEST(std::abs(found[i] - sum / 3) < 1e-9);
    }
    BOOST_TEST(found[0] > found[1]);
    BOOST_TEST(found[1] > found[3]);
  }
}

BOOST_AUTO_TEST_CASE(alone_or_all_alike) {
  const auto metric = metric_of("chrf");
  BOOST_TEST(utilities({"a cat"}, *metric)[0] == 0);
  BOOST_TEST(std::abs(utilities({"a cat sat", "a cat sat"}, *metric)[1] - 100) < 1e-9);
}
