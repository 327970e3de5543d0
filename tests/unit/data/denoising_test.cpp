// Span corruption: how much of a text is masked, where, and that nothing is lost.
#include <map>

#include "lib/data/masking.h"
#include "tests/unit/data/packing_fixture.h"

using namespace tx;

namespace {

std::vector<int> counting(int tokens) {
  std::vector<int> ids;
  for (int i = 0; i < tokens; ++i) ids.push_back(1000 + i);
  return ids;
}

std::vector<int> sentinels(int count) {
  std::vector<int> ids;
  for (int i = 0; i < count; ++i) ids.push_back(10 + i);
  return ids;
}

// Puts the spans of the target back into the source.
std::vector<int> restored(const std::vector<std::vector<int>>& sides) {
  std::map<int, std::vector<int>> spans;
  int last = -1;
  for (const int id : sides[1]) {
    if (id < 1000) {
      BOOST_REQUIRE(spans.emplace(last = id, std::vector<int>()).second);
    } else {
      spans.at(last).push_back(id);
    }
  }
  std::vector<int> text;
  for (const int id : sides[0]) {
    if (id >= 1000)
      text.push_back(id);
    else
      text.insert(text.end(), spans.at(id).begin(), spans.at(id).end());
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(denoising)

BOOST_AUTO_TEST_CASE(counts_are_the_papers) {
  BOOST_TEST(count_spans(512, 100).taken == 77);
  BOOST_TEST(count_spans(512, 100).spans == 26);
  BOOST_TEST(count_spans(512, 4).spans == 4);
  BOOST_TEST(count_spans(1, 100).taken == 1);
  for (const int max : {1, 3, 100})
    for (int tokens = 1; tokens < 3000; ++tokens) {
      const SpanCounts here = count_spans(tokens, max);
      BOOST_REQUIRE(here.taken >= here.spans);
      BOOST_REQUIRE(here.spans >= 1);
      for (const int side : {0, 1})
        BOOST_REQUIRE(denoised_length(tokens, side, max) <= denoised_length(tokens + 1, side, max));
    }
}

BOOST_AUTO_TEST_CASE(the_target_restores_the_text) {
  for (const int max : {2, 100})
    for (int tokens = 1; tokens < 200; ++tokens)
      for (uint32_t place = 0; place < 20; ++place) {
        const auto sides = take_spans({1, 0, place}, sentinels(max), counting(tokens));
        BOOST_REQUIRE(restored(sides) == counting(tokens));
        for (const int side : {0, 1})
          BOOST_REQUIRE(int(sides[size_t(side)].size()) == denoised_length(tokens, side, max));
        int number = 0;  // sentinels in rising order, each with a span of its own
        for (size_t i = 0; i < sides[1].size(); ++i)
          if (sides[1][i] < 1000) {
            BOOST_REQUIRE(sides[1][i] == 10 + number++);
            BOOST_REQUIRE((i + 1 < sides[1].size() && sides[1][i + 1] >= 1000));
          }
        for (size_t i = 1; i < sides[0].size(); ++i)
          BOOST_REQUIRE((sides[0][i] >= 1000 || sides[0][i - 1] >= 1000));
      }
}

// Spans occur at both ends and in between, and differ in length.
BOOST_AUTO_TEST_CASE(every_place_is_taken_about_as_often) {
  constexpr int tokens = 40, texts = 4000;
  std::vector<int> taken(tokens);
  std::map<size_t, int> first_span;
  for (uint32_t place = 0; place < texts; ++place) {
    const auto sides = take_spans({7, 3, place}, sentinels(9), counting(tokens));
    for (const int id : sides[1])
      if (id >= 1000) ++taken[size_t(id - 1000)];
    const auto next = std::find(sides[1].begin(), sides[1].end(), 11);
    ++first_span[size_t(next - sides[1].begin()) - 1];
  }
  for (int i = 0; i < tokens; ++i)
    BOOST_TEST((taken[size_t(i)] > 0.05 * texts && taken[size_t(i)] < 0.25 * texts),
               i << ": " << taken[size_t(i)]);
  for (size_t length = 1; length <= 5; ++length)  // 6 tokens in 2 spans
    BOOST_TEST(std::abs(first_span[length] - texts / 5) < texts / 25);
}

// The spans of a text do not depend on the size of batches, differ between epochs, and a restored
// packer continues with the same ones.
BOOST_FIXTURE_TEST_CASE(spans_do_not_depend_on_packing, PackingFixture) {
  std::vector<std::vector<int>> lengths;
  for (int i = 0; i < 200; ++i) lengths.push_back({1 + i % 60});
  const IdCache cache = make(lengths);
  using Sides = std::vector<std::vector<int>>;
  using Seen = std::map<std::pair<int64_t, uint32_t>, Sides>;  // by epoch and place
  const auto pass = [&](int batch_tokens, uint64_t seed, bool interrupted) {
    PackerOptions packing;
    packing.batch_tokens = batch_tokens;
    packing.epochs = 2;
    packing.seed = seed;
    packing.sentinels = sentinels(100);
    auto packer = std::make_unique<Packer>(cache, packing);
    Seen seen;
    for (Batch batch; packer->next(batch);) {
      BOOST_REQUIRE(batch.sides.size() == 2u);
      const BatchSide &source = batch.sides[0], &target = batch.sides[1];
      for (size_t s = 0; s < size_t(batch.sentences); ++s) {
        const int32_t begin = target.offsets[s], end = target.offsets[s + 1];
        BOOST_REQUIRE(target.ids[size_t(begin)] == Vocabulary::bos);
        BOOST_REQUIRE(batch.labels[size_t(end) - 1] == Vocabulary::eos);
        BOOST_REQUIRE(source.ids[size_t(source.offsets[s + 1]) - 1] == Vocabulary::eos);
        for (int32_t row = begin + 1; row < end; ++row)
          BOOST_REQUIRE(target.ids[size_t(row)] == batch.labels[size_t(row) - 1]);
        seen[{batch.epoch, target.pair[size_t(begin)]}] = {
            {source.ids.begin() + source.offsets[s], source.ids.begin() + source.offsets[s + 1]},
            {target.ids.begin() + begin, target.ids.begin() + end}};
      }
      if (!interrupted) continue;
      const Json state = packer->state();
      packer = std::make_unique<Packer>(cache, packing);
      packer->restore(state);
    }
    return seen;
  };
  const Seen one = pass(64, 1, false);
  BOOST_TEST(one.size() == 400u);
  BOOST_TEST((pass(333, 1, false) == one));
  BOOST_TEST((pass(64, 1, true) == one));
  BOOST_TEST((pass(64, 2, false) != one));
  int64_t moved = 0;
  for (uint32_t place = 0; place < 200; ++place)
    moved += one.at({0, place})[1] != one.at({1, place})[1];
  BOOST_TEST(moved > 100);
}

BOOST_AUTO_TEST_SUITE_END()
