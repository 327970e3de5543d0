#include "lib/base/philox.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

using namespace tx;

namespace {

void check_block(const Philox::Block& block, std::vector<uint32_t> expected) {
  BOOST_TEST(std::vector<uint32_t>(block.word, block.word + 4) == expected,
             boost::test_tools::per_element());
}

}  // namespace

// The known answers of the authors' Random123 library (kat_vectors, philox4x32 10).
BOOST_AUTO_TEST_CASE(known_answers) {
  check_block(Philox::block(0, 0, 0, 0, 0, 0), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const uint32_t ones = 0xffffffff;
  check_block(Philox::block(ones, ones, ones, ones, ones, ones),
              {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  check_block(Philox::block(0xa4093822, 0x299f31d0, 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344),
              {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

BOOST_AUTO_TEST_CASE(streams_repeat_and_differ) {
  PhiloxStream a(7, 1), again(7, 1), other_site(7, 2), other_seed(7 + (uint64_t(1) << 32), 1);
  int same_site = 0, same_seed = 0;
  for (int i = 0; i < 100; ++i) {
    const uint32_t value = a.next();
    BOOST_TEST(value == again.next());
    same_site += value == other_site.next();
    same_seed += value == other_seed.next();
  }
  BOOST_TEST(same_site == 0);
  BOOST_TEST(same_seed == 0);  // the upper half of the seed matters
}

BOOST_AUTO_TEST_CASE(uniform_is_uniform) {
  PhiloxStream stream(1, 0);
  const int n = 200000, bins = 20;
  std::vector<int> count(bins);
  for (int i = 0; i < n; ++i) {
    const double u = stream.uniform();
    BOOST_REQUIRE(u >= 0.0);
    BOOST_REQUIRE(u < 1.0);
    ++count[size_t(u * bins)];
  }
  double chi2 = 0;
  for (const int c : count) chi2 += (c - n / bins) * (c - n / bins) / double(n / bins);
  BOOST_TEST(chi2 < 43.8);  // 99.9 % of chi-square with 19 degrees of freedom
}

BOOST_AUTO_TEST_CASE(normal_has_its_moments) {
  PhiloxStream stream(2, 0);
  const int n = 200000;
  double moment[5] = {};
  for (int i = 0; i < n; ++i) {
    const double x = stream.normal();
    BOOST_REQUIRE(std::isfinite(x));
    for (int k = 1; k <= 4; ++k) moment[k] += std::pow(x, k) / n;
  }
  BOOST_TEST(std::abs(moment[1]) < 0.01);
  BOOST_TEST(std::abs(moment[2] - 1) < 0.015);
  BOOST_TEST(std::abs(moment[3]) < 0.04);
  BOOST_TEST(std::abs(moment[4] - 3) < 0.15);
}
