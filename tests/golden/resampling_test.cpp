// Confidence and paired tests against sacreBLEU: resampling.jsonl is made by make_resampling.py.
#include "lib/eval/resampling/resampling.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "lib/base/io.h"
#include "tests/golden/golden_options.h"

using tx::Json;
using Figures = std::vector<double>;

namespace {

tx::SystemRows rows_of(const tx::Metric& metric, const Json& rows) {
  tx::SystemRows system{&metric, {}};
  for (const Json& row : rows) {
    for (const Json& value : row) system.rows.push_back(value.get<double>());
  }
  return system;
}

double corpus_score(const tx::SystemRows& system) {
  const size_t size = system.metric->size();
  tx::Statistics sums(size, 0.0);
  for (size_t k = 0; k < system.rows.size(); ++k) sums[k % size] += system.rows[k];
  return system.metric->value(std::span<const double>(sums));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(golden_resampling)

// Every digit, random numbers included.
BOOST_AUTO_TEST_CASE(equals_sacrebleu) {
  tx::LineReader reader(TX_SOURCE_DIR "/tests/golden/resampling.jsonl");
  int compared = 0;
  for (std::string line; reader.next(line); ++compared) {
    const Json expected = tx::parse_json(line, reader.name());
    const auto made = golden_metric(expected["setting"]);
    const tx::Metric& metric = *made;
    const std::vector<tx::SystemRows> systems = {rows_of(metric, expected["rows"][0]),
                                                 rows_of(metric, expected["rows"][1])};
    const double difference = std::abs(corpus_score(systems[0]) - corpus_score(systems[1]));
    const auto scores = tx::bootstrap(systems, {expected["resamples"]});
    BOOST_TEST_CONTEXT(expected["setting"]) {
      const tx::Confidence alone = tx::confidence(metric, scores[1]);
      BOOST_TEST((Figures{alone.mean, alone.half_width} == expected["confidence"].get<Figures>()));
      const tx::Confidence baseline = tx::numpy_confidence(metric, scores[0]);
      const tx::Significance other = tx::paired_bootstrap(metric, scores[0], scores[1], difference);
      const Figures bootstrap = {baseline.mean, baseline.half_width, other.confidence.mean,
                                 other.confidence.half_width, other.p_value};
      BOOST_TEST(bootstrap == expected["bs"].get<Figures>(), boost::test_tools::per_element());
      const tx::SystemPair pair{&systems[0], &systems[1], difference};
      const auto p = tx::paired_randomization({&pair, 1}, {expected["trials"]});
      BOOST_TEST((p == Figures{expected["ar"][0].get<double>()}));
    }
  }
  BOOST_TEST(compared == 7);
}

BOOST_AUTO_TEST_SUITE_END()
