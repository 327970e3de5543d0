#include <boost/test/unit_test.hpp>
#include <map>
#include <set>

#include "lib/base/error.h"
#include "lib/subword/subword.h"
#include "lib/subword/words.h"
#include "tests/unit/data/packing_fixture.h"

using namespace tx;

namespace {

// Text of two sides, its model, and a cache of it.
struct DropoutFixture : PackingFixture {
  DropoutFixture() {
    const char* const nouns[] = {"house", "river", "machine", "children", "window", "letter"};
    PhiloxStream random(3, 1);
    for (int i = 0; i < 400; ++i) {
      for (auto& side : text) {
        std::string line;
        for (uint32_t k = 0; k < 2 + random.next() % 8; ++k)
          line += std::string(k ? " " : "") + nouns[random.next() % 6];
        side.push_back(line);
      }
    }
    SubwordTraining training;
    training.vocab_size = 320;
    model = parse_vocabulary(train_subword(count_words(source_of(text[0]), 1), training), "model");
    std::vector<CacheSide> sides;
    for (int s = 0; s < 2; ++s) {
      std::string file;
      for (const std::string& line : text[s]) file += line + "\n";
      sides.push_back({{folder.file("text" + std::to_string(s), file)}, model.get()});
    }
    build_cache(folder / "text.ids", sides, {});
    cache = std::make_unique<IdCache>(folder / "text.ids");
  }

  PackerOptions options(const PairDropout& dropout) const {
    PackerOptions o;
    o.batch_tokens = 300;
    o.window = 60;
    o.dropout = &dropout;
    return o;
  }

  // Ids of sentence i of side s, without <bos> and <eos>.
  static std::vector<int> sentence(const Batch& batch, int s, int i) {
    const BatchSide& side = batch.sides[size_t(s)];
    const auto begin = side.ids.begin() + side.offsets[size_t(i)] + (s == 1);
    return {begin, side.ids.begin() + side.offsets[size_t(i) + 1] - (s == 0)};
  }

  std::vector<std::string> text[2];
  std::shared_ptr<const Vocabulary> model;
  std::unique_ptr<IdCache> cache;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(packing_dropout, DropoutFixture)

BOOST_AUTO_TEST_CASE(each_epoch_cuts_every_line_anew) {
  const PairDropout dropout(*cache, {model, 2}, 0.2, 9);
  PackerOptions o = options(dropout);
  o.epochs = 3;
  Packer packer(*cache, o);
  std::map<std::pair<int, int64_t>, std::set<std::vector<int>>> ways;  // of (side, line)
  std::map<int64_t, int> times;
  for (Batch batch; packer.next(batch);) {
    for (int i = 0; i < batch.sentences; ++i) {
      const int64_t line = batch.lines[size_t(i)];
      ++times[line];
      for (int s = 0; s < 2; ++s) {
        const std::vector<int> ids = sentence(batch, s, i);
        BOOST_REQUIRE_EQUAL(model->decode(ids), text[s][size_t(line) - 1]);
        ways[{s, line}].insert(ids);
      }
    }
  }
  BOOST_TEST(times.size() == 400u);
  for (const auto& [line, count] : times) BOOST_REQUIRE_EQUAL(count, 3);
  size_t anew = 0;
  for (const auto& [line, cuts] : ways) anew += cuts.size() == 3;
  BOOST_TEST(anew > 600u);  // of 800: few segmentations repeat
}

BOOST_AUTO_TEST_CASE(a_restored_packer_goes_on_with_the_same_cuts) {
  const PairDropout dropout(*cache, {model, 2}, 0.2, 9);
  Packer packer(*cache, options(dropout));
  Batch expected, batch;
  while (packer.epoch() < 2) {
    const Json state = packer.state();
    packer.next(expected);
    Packer other(*cache, options(dropout));
    other.restore(state);
    other.next(batch);
    BOOST_REQUIRE(same(batch, expected));
  }
  const PairDropout changed(*cache, {model, 2}, 0.3, 9);
  BOOST_CHECK_EXCEPTION(
      Packer(*cache, options(changed)).restore(packer.state()), DataError, [](const Error& error) {
        return std::string(error.what()).find("(bpe_dropout 0.2, now 0.3)") != std::string::npos;
      });
}

BOOST_AUTO_TEST_CASE(later_epochs_keep_the_usual_cuts) {
  const PairDropout always(*cache, {model, 2}, 0.2, 9);
  const PairDropout dropout(*cache, {model, 2}, 0.2, 9, 2);
  int cut = 0;
  for (int64_t pair = 0; pair < cache->pairs(); ++pair) {
    BOOST_TEST(dropout.ids(pair, 1, 1, 1000) == always.ids(pair, 1, 1, 1000));
    BOOST_TEST(dropout.ids(pair, 1, 2, 1000) == cache->ids(pair, 1));
    cut += always.ids(pair, 1, 2, 1000) != cache->ids(pair, 1);
  }
  BOOST_TEST(cut > 300);
  BOOST_CHECK_EXCEPTION(
      Packer(*cache, options(dropout)).restore(Packer(*cache, options(always)).state()), DataError,
      [](const Error& error) {
        return std::string(error.what()).find("bpe_dropout_epochs") != std::string::npos;
      });
}

// With dropout 1 a line becomes its characters, or keeps its usual subwords if these are too many.
BOOST_AUTO_TEST_CASE(a_cut_that_is_too_long_is_the_usual_one) {
  const PairDropout dropout(*cache, {model, 2}, 1, 9);
  const int max = PairDropout::max_growth * cache->longest(0);
  int usual = 0, characters = 0;
  for (int64_t pair = 0; pair < cache->pairs(); ++pair) {
    const std::vector<int> ids = dropout.ids(pair, 0, 0, 1000);
    BOOST_TEST(int(ids.size()) <= max);
    const bool same_ids = ids == cache->ids(pair, 0);
    usual += same_ids;
    characters += !same_ids;
    BOOST_TEST(dropout.ids(pair, 0, 0, 0) == cache->ids(pair, 0));
  }
  BOOST_TEST(usual > 0);
  BOOST_TEST(characters > 0);
}

BOOST_AUTO_TEST_CASE(words_have_no_merges) {
  BOOST_CHECK_THROW(PairDropout(*cache, {{model, words}}, 0.1, 1), UsageError);
}

BOOST_AUTO_TEST_SUITE_END()
