#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

#include "lib/base/error.h"
#include "tests/unit/data/packing_fixture.h"

using namespace tx;

namespace {

// Compares the rows of real sentence i on side s with the cache.
void check_sentence(const IdCache& cache, const Batch& batch, int s, size_t i) {
  const BatchSide& side = batch.sides[size_t(s)];
  const auto begin = side.ids.begin() + side.offsets[i],
             end = side.ids.begin() + side.offsets[i + 1];
  std::vector<int> expected = cache.ids(batch.lines[i] - 1, s);  // no line is dropped here
  std::vector<int> labels = expected;
  labels.push_back(Vocabulary::eos);
  if (s + 1 == cache.sides()) {
    expected.insert(expected.begin(), Vocabulary::bos);
    const auto first = batch.labels.begin() + side.offsets[i];
    BOOST_REQUIRE(std::equal(labels.begin(), labels.end(), first, first + (end - begin)));
  } else {
    expected = labels;
  }
  BOOST_REQUIRE(std::equal(expected.begin(), expected.end(), begin, end));
  BOOST_REQUIRE(side.pair[side.offsets[i]] == batch.sides[0].pair[batch.sides[0].offsets[i]]);
}

// The invariants of every side and row of a batch.
void check_side(const Batch& batch, const BatchSide& side, int capacity, bool target) {
  const size_t sentences = batch.sides[0].offsets.size() - 1;
  BOOST_REQUIRE(side.ids.size() == size_t(capacity));
  BOOST_REQUIRE(side.pair.size() == side.ids.size());
  BOOST_REQUIRE(side.position.size() == side.ids.size());
  BOOST_REQUIRE(side.offsets.size() == sentences + 1);
  BOOST_REQUIRE(side.offsets.front() == 0);
  BOOST_REQUIRE(side.offsets.back() == capacity);
  for (size_t i = 0; i < sentences; ++i) {
    const int begin = side.offsets[i], end = side.offsets[i + 1];
    const bool real = i < size_t(batch.sentences);
    BOOST_REQUIRE(begin < end);
    for (int row = begin; row < end; ++row) {
      BOOST_REQUIRE(side.position[row] == uint32_t(row - begin));
      BOOST_REQUIRE(side.pair[row] == side.pair[begin]);
      BOOST_REQUIRE((side.pair[row] == dummy_pair) == !real);
      if (real) continue;
      BOOST_REQUIRE(side.ids[row] == Vocabulary::pad);
      if (target) BOOST_REQUIRE(batch.labels[row] == no_label);
    }
  }
}

// Everything that packing.h promises of one batch; adds its pairs to `places` and `lines`.
void check_batch(const IdCache& cache, const std::vector<int>& capacities, const Batch& batch,
                 std::set<uint32_t>& places, std::set<int64_t>& lines) {
  BOOST_REQUIRE(batch.sentences < int(batch.sides[0].offsets.size()) - 1);
  BOOST_REQUIRE(batch.lines.size() == size_t(batch.sentences));
  BOOST_REQUIRE(batch.labels.size() == size_t(capacities.back()));
  for (int s = 0; s < cache.sides(); ++s) {
    const BatchSide& side = batch.sides[s];
    check_side(batch, side, capacities[s], s + 1 == cache.sides());
    BOOST_REQUIRE(side.offsets[size_t(batch.sentences)] == batch.tokens[s]);
    for (size_t i = 0; i < size_t(batch.sentences); ++i) check_sentence(cache, batch, s, i);
  }
  for (size_t i = 0; i < size_t(batch.sentences); ++i) {
    BOOST_REQUIRE(places.insert(batch.sides[0].pair[batch.sides[0].offsets[i]]).second);
    BOOST_REQUIRE(lines.insert(batch.lines[i]).second);
  }
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(packing, PackingFixture)

BOOST_AUTO_TEST_CASE(every_pair_once_an_epoch) {
  for (const int sides : {1, 2, 3}) {
    const IdCache cache = make(captions(3000, sides));
    PackerOptions options;
    options.batch_tokens = 700;
    options.epochs = 2;
    options.window = 500;
    Packer packer(cache, options);
    std::set<uint32_t> places[2];
    std::set<int64_t> lines[2];
    Batch batch;
    while (packer.next(batch)) {
      BOOST_REQUIRE(batch.epoch < 2);
      check_batch(cache, packer.capacities(), batch, places[batch.epoch], lines[batch.epoch]);
    }
    for (int epoch = 0; epoch < 2; ++epoch) {
      BOOST_TEST(places[epoch].size() == 3000u);
      BOOST_TEST(*places[epoch].rbegin() == 2999u);
      BOOST_TEST(lines[epoch].size() == 3000u);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_epoch_is_that_of_the_next_batch) {
  const IdCache cache = make(captions(100));
  PackerOptions options;
  options.batch_tokens = 1000;
  Packer packer(cache, options);
  Batch batch;
  for (size_t pairs = 0; pairs < 100; pairs += size_t(batch.sentences)) {
    BOOST_TEST(packer.epoch() == 0);
    packer.next(batch);
  }
  BOOST_TEST(packer.epoch() == 1);
  Packer resumed(cache, options);
  resumed.restore(packer.state());
  BOOST_TEST(resumed.epoch() == 1);
}

BOOST_AUTO_TEST_CASE(nearly_all_rows_are_useful) {
  const IdCache cache = make(captions(30000));
  PackerOptions options;
  options.epochs = 1;
  options.batch_tokens = 4096;
  Packer packer(cache, options);
  Batch batch;
  double useful[2] = {};
  int batches = 0;
  for (; packer.next(batch); ++batches) {
    for (int s = 0; s < 2; ++s) useful[s] += double(batch.tokens[s]);
  }
  // The source's capacity is rounded up to a multiple of 64; these rows are not counted as unused.
  BOOST_TEST(useful[0] / batches / (options.batch_tokens * useful[0] / useful[1]) > 0.98);
  BOOST_TEST(useful[1] / batches / options.batch_tokens > 0.98);
  BOOST_TEST(useful[0] / batches / packer.capacities()[0] > 0.98 - 63.0 / 4096);
  const double min = std::max(std::ceil(useful[0] / (packer.capacities()[0] - 1)),
                              std::ceil(useful[1] / (packer.capacities()[1] - 1)));
  BOOST_TEST(batches <= min + 1);
}

BOOST_AUTO_TEST_CASE(validation_takes_the_text_in_order) {
  const IdCache cache = make(captions(1000));
  PackerOptions options;
  options.batch_tokens = 1000;
  options.shuffle = false;
  options.epochs = 1;
  Packer packer(cache, options);
  Batch batch;
  BOOST_REQUIRE(packer.next(batch));
  for (int i = 0; i < 30; ++i) BOOST_TEST(batch.lines[i] == i + 1);
  std::set<uint32_t> places;
  std::set<int64_t> lines;
  do check_batch(cache, packer.capacities(), batch, places, lines);
  while (packer.next(batch));
  BOOST_TEST(lines.size() == 1000u);
  BOOST_TEST(!packer.next(batch));
}

BOOST_AUTO_TEST_CASE(capacities_follow_the_ratio) {
  const IdCache cache = make(std::vector<std::vector<int>>(10, {9, 19}));
  const auto capacities = batch_capacities(PairLengths(cache), 1000);  // 10 : 20 rows per pair
  BOOST_TEST(capacities[0] == 512);
  BOOST_TEST(capacities[1] == 1000);
}

BOOST_AUTO_TEST_CASE(dummies_are_short_and_never_empty) {
  const IdCache cache = make({{60, 1}, {1, 3}});
  PackerOptions options;
  options.capacities = {100, 500};
  Batch batch;
  Packer(cache, options).next(batch);
  std::set<uint32_t> places;
  std::set<int64_t> lines;
  check_batch(cache, options.capacities, batch, places, lines);
  BOOST_TEST(batch.sentences == 2);
  BOOST_TEST(batch.sides[1].offsets.size() == 2u + 8 + 1);  // 494 rows left: 8 dummies of 62
  options.capacities = {64, 500};                           // only one source row left
  Packer(cache, options).next(batch);
  BOOST_TEST(batch.sides[0].offsets.size() == 2u + 1 + 1);
}

BOOST_AUTO_TEST_CASE(a_pair_longer_than_a_batch_names_both_and_the_remedy) {
  const IdCache cache = make({{5, 5}, {70, 30}, {5, 45}});
  const auto refuse = [&](int batch_tokens, const std::string& start) {
    PackerOptions options;
    options.batch_tokens = batch_tokens;
    BOOST_CHECK_EXCEPTION(Packer(cache, options), UsageError, [&](const UsageError& error) {
      BOOST_TEST_INFO(error.what());
      return std::string(error.what()).starts_with(start);
    });
  };
  const std::string rest = " side; the minimum is --batch-tokens 65 (";
  refuse(
      40,
      "--batch-tokens 40 is too small for the pair of line 2, which has 70 tokens on its source" +
          rest);
  refuse(
      46,
      "--batch-tokens 46 is too small for the pair of line 2, which has 70 tokens on its source" +
          rest);
  PackerOptions options;
  options.batch_tokens = 65;
  Batch batch;
  Packer packer(cache, options);
  BOOST_TEST(packer.next(batch));
}

BOOST_AUTO_TEST_CASE(a_restored_packer_goes_on_with_the_same_batches) {
  const IdCache cache = make(captions(2000));
  PackerOptions options;
  options.batch_tokens = 500;
  options.window = 300;
  Packer packer(cache, options);
  Batch expected, batch;
  for (int step = 0; step < 150; ++step) {  // about three epochs
    const std::string state = to_text(packer.state());
    packer.next(expected);
    if (step % 7 != 0) continue;
    Packer other(cache, options);
    for (int k = 0; k < step % 3; ++k) other.next(batch);  // after any earlier use
    other.restore(parse_json(state, "state"));
    other.next(batch);
    BOOST_REQUIRE(same(batch, expected));
  }
  BOOST_TEST(packer.epoch() >= 2);
}

BOOST_AUTO_TEST_CASE(states_of_other_data_or_damaged_ones_are_refused) {
  const IdCache cache = make(captions(200));
  PackerOptions options;
  options.batch_tokens = 300;
  options.window = 50;
  Packer packer(cache, options);
  Batch batch;
  packer.next(batch);
  const Json good = packer.state();
  options.seed = 5;
  BOOST_CHECK_EXCEPTION(Packer(cache, options).restore(good), DataError, [](const Error& error) {
    return std::string(error.what()).find("(seed 1, now 5)") != std::string::npos;
  });
  const auto refused = [&](const char* key, const Json& value) {
    Json bad = good;
    bad[key] = value;
    BOOST_CHECK_THROW(packer.restore(bad), DataError);
  };
  refused("cursor", 201);
  refused("cursor", "x");
  refused("epoch", -1);
  refused("waiting", {5, 5});
  refused("waiting", {-1});
  refused("waiting", {199});
  refused("waiting", {0.5});
  refused("waiting", {1e300});
  refused("cursor", 1e300);
  refused("epoch", 18446744073709551615u);
  refused("of", 7);
  BOOST_CHECK_THROW(packer.restore(Json()), DataError);
  packer.restore(good);
}

BOOST_AUTO_TEST_CASE(seed_and_epoch_change_the_batches) {
  const IdCache cache = make(captions(500));
  PackerOptions one, two;
  one.batch_tokens = two.batch_tokens = 8000;  // one batch per epoch
  two.seed = 2;
  Packer first(cache, one), again(cache, one), other(cache, two);
  Batch a, b, c;
  first.next(a);
  again.next(b);
  BOOST_TEST(same(a, b));
  other.next(c);
  BOOST_TEST(!same(a, c));
  first.next(b);
  BOOST_TEST(b.epoch == 1);
  BOOST_TEST(a.lines != b.lines);
}

BOOST_AUTO_TEST_SUITE_END()
