// label: slow
#include <boost/test/unit_test.hpp>

#include "tests/unit/subword/subword_samples.h"

using namespace tx;

BOOST_AUTO_TEST_SUITE(subword_million)

// With and without BPE-dropout decode() restores a million random lines of valid UTF-8.
BOOST_AUTO_TEST_CASE(a_million_random_lines_are_restored) {
  const auto model = parse_vocabulary(train(sample_text(), 400, 1, {"<s", "dog", "é"}), "model");
  PhiloxStream random(20, 2);
  std::vector<int> ids;
  for (int64_t i = 1; i <= 1000000; ++i) {
    const std::string line = random_line(random);
    model->encode(line, ids);
    BOOST_REQUIRE_EQUAL(model->decode(ids), line);
    MergeDraws draws({0.1, 3}, i);
    model->encode(line, draws, ids);
    BOOST_REQUIRE_EQUAL(model->decode(ids), line);
  }
}

BOOST_AUTO_TEST_SUITE_END()
