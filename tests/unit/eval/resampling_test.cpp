#include "lib/eval/resampling/resampling.h"

#include <boost/test/unit_test.hpp>
#include <numeric>

#include "lib/eval/resampling/numpy_random.h"
#include "lib/eval/resampling/packed_rows.h"
#include "tests/scoring_options.h"

namespace {

// Small whole numbers that differ from row to row.
std::vector<double> some_rows(size_t count, size_t size, int min, int max, uint32_t x = 1) {
  std::vector<double> rows(count * size);
  for (double& value : rows) {
    x = x * 1664525 + 1013904223;
    value = min + int(x >> 8) % (max - min + 1);
  }
  return rows;
}

tx::SystemRows system_of(const tx::Metrics& metrics, std::vector<double> rows) {
  return {metrics[0].get(), std::move(rows)};
}

tx::Metrics ter() { return tx_test::metrics({"--metric", "ter"}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(resampling)

// default_rng(12345).choice(3000000001, 10000), where three numbers in ten are drawn again, and
// then choice(7, 5).
BOOST_AUTO_TEST_CASE(indices_are_those_of_numpy) {
  std::vector<uint32_t> indices(10000);
  tx::NumpyRandom random(12345);
  const uint64_t redrawn = random.draw_indices(indices, 3000000001u);
  BOOST_TEST(redrawn > 3000);
  BOOST_TEST(indices[0] == 950275018u);
  BOOST_TEST(indices[2] == 1928050708u);
  BOOST_TEST(indices[9999] == 2132386428u);
  BOOST_TEST(std::accumulate(indices.begin(), indices.end(), uint64_t(0)) == 14870071356441u);
  const std::vector<uint32_t> expected = {4, 3, 3, 3, 0};
  std::vector<uint32_t> few(5);
  random.draw_indices(few, 7);
  BOOST_TEST(few == expected, boost::test_tools::per_element());
}

// default_rng(12345).integers(2, size=64, dtype=bool), from the lowest bit.
BOOST_AUTO_TEST_CASE(words_hold_the_bits_of_numpy) {
  std::vector<uint32_t> words(2);
  tx::NumpyRandom(12345).draw_words(words);
  BOOST_TEST((uint64_t(words[1]) << 32 | words[0]) == 0x3a32b18db2ffc19du);
}

BOOST_AUTO_TEST_CASE(skipping_is_drawing) {
  std::vector<uint32_t> all(1000);
  tx::NumpyRandom(7).draw_words(all);
  for (const size_t skipped : {0, 1, 2, 3, 257, 900}) {
    for (const size_t before : {0, 1, 2, 5}) {
      tx::NumpyRandom random(7);
      std::vector<uint32_t> first(before), rest(20);
      random.draw_words(first);
      random.skip(skipped);
      random.draw_words(rest);
      for (size_t i = 0; i < rest.size(); ++i) BOOST_TEST(rest[i] == all[before + skipped + i]);
    }
  }
}

BOOST_AUTO_TEST_CASE(packed_sums_are_sums) {
  for (const size_t size : {1, 2, 8, 10, 16, 17, 24, 32, 33, 202}) {
    const size_t count = 300;
    const std::vector<double> rows = some_rows(count, size, 0, 4095);
    const auto packed = tx::PackedRows::make(rows, size);
    BOOST_REQUIRE(packed.has_value());
    std::vector<uint32_t> indices(count);
    tx::NumpyRandom(3).draw_indices(indices, count);
    std::vector<float> sums(size), wanted(size);
    packed->sum(indices, sums);
    for (const uint32_t i : indices) {
      for (size_t k = 0; k < size; ++k) wanted[k] += float(rows[i * size + k]);
    }
    BOOST_TEST(sums == wanted, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(sums_of_subsets_are_sums) {
  for (const size_t size : {1, 2, 8, 10, 24, 33}) {
    for (const size_t count : {1, 31, 32, 33, 301}) {
      const std::vector<double> rows = some_rows(count, size, -1023, 1023);
      const auto subsets = tx::SubsetSums::make(rows, size);
      BOOST_REQUIRE(subsets.has_value());
      std::vector<uint32_t> bits(subsets->words());
      tx::NumpyRandom(3).draw_words(bits);
      std::vector<double> sums(size), wanted(size);
      subsets->sum(bits, sums);
      for (size_t i = 0; i < count; ++i) {
        for (size_t k = 0; k < size && (bits[i / 32] >> i % 32 & 1) != 0; ++k) {
          wanted[k] += rows[i * size + k];
        }
      }
      BOOST_TEST(sums == wanted, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_packed_is_refused) {
  for (const double odd : {0.5, -1.0, 4096.0}) {
    BOOST_TEST(!tx::PackedRows::make(std::vector<double>{1, odd}, 1).has_value());
  }
  BOOST_TEST(!tx::PackedRows::make(std::vector<double>(5000, 4000.0), 1).has_value());
  for (const double odd : {0.5, -1024.0, 1024.0}) {
    BOOST_TEST(!tx::SubsetSums::make(std::vector<double>{1, odd}, 1).has_value());
  }
}

// So many segments that most chunks, which threads compute ahead, have an index to draw again.
BOOST_AUTO_TEST_CASE(the_scores_do_not_depend_on_threads) {
  const tx::Metrics metrics = ter();
  const size_t segments = 64912;
  const std::vector<tx::SystemRows> systems = {
      system_of(metrics, some_rows(segments, 2, 1, 30)),
      system_of(metrics, some_rows(segments, 2, 2, 31, 9))};
  const auto alone = tx::bootstrap(systems, {60, 5, 1});
  std::vector<float> sums(2);
  std::vector<uint32_t> indices(segments);
  tx::NumpyRandom random(5);
  uint64_t redrawn = 0;
  for (size_t i = 0; i < 60; ++i) {
    redrawn += random.draw_indices(indices, segments);
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (const uint32_t index : indices) {
      for (size_t k = 0; k < 2; ++k) sums[k] += float(systems[0].rows[2 * index + k]);
    }
    BOOST_TEST(alone[0][i] == metrics[0]->value(std::span<const float>(sums)));
  }
  BOOST_TEST(redrawn > 30);
  for (const int threads : {2, 3, 8}) {
    BOOST_TEST((tx::bootstrap(systems, {60, 5, threads}) == alone));
  }
  const tx::SystemPair pair{&systems[0], &systems[1], 0.3};
  const auto p = tx::paired_randomization({&pair, 1}, {300, 5, 1});
  BOOST_TEST(p[0] > 0.01);
  BOOST_TEST(p[0] < 0.99);
  for (const int threads : {2, 3, 8}) {
    BOOST_TEST((tx::paired_randomization({&pair, 1}, {300, 5, threads}) == p));
  }
}

// Rows of whole numbers use packed sums, rows with fractions plain ones; both must agree.
BOOST_AUTO_TEST_CASE(plain_and_packed_exchanges_agree) {
  const tx::Metrics metrics = ter();
  std::vector<double> a = some_rows(200, 2, 1, 30), b = some_rows(200, 2, 2, 31, 9);
  const std::vector<tx::SystemRows> whole = {system_of(metrics, a), system_of(metrics, b)};
  for (double& x : a) x *= 0.5;
  for (double& x : b) x *= 0.5;
  const std::vector<tx::SystemRows> halves = {system_of(metrics, a), system_of(metrics, b)};
  const tx::SystemPair pairs[] = {{&whole[0], &whole[1], 5.0}, {&halves[0], &halves[1], 5.0}};
  const auto p = tx::paired_randomization(pairs, {500, 5, 1});
  BOOST_TEST(p[0] == p[1]);
  BOOST_TEST(p[0] > 0.01);
  const auto scores = tx::bootstrap(std::vector<tx::SystemRows>{whole[0], halves[0]}, {200, 5, 1});
  BOOST_TEST((scores[0] == scores[1]));
}

BOOST_AUTO_TEST_SUITE_END()
