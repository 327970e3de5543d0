// The batches of a training: their number per step; reading ahead does not change them.
#include "lib/train/step/feed.h"

#include "lib/base/error.h"
#include "tests/unit/data/packing_fixture.h"

using namespace tx;

namespace {

struct Fixture : PackingFixture {
  const Vocabularies vocabularies{words, 2};
  TrainOptions options;
  Feed feed_of(const IdCache& text) { return Feed(text, vocabularies, options, 256); }
};

bool same(const std::vector<Batch>& a, const std::vector<Batch>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Batch& x, const Batch& y) { return tx::same(x, y); });
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(feed, Fixture)

BOOST_AUTO_TEST_CASE(reading_ahead_changes_nothing) {
  const IdCache text = make(captions(200));
  options.accumulate = 3;
  Feed plain = feed_of(text), ahead = feed_of(text);
  for (int step = 0; step < 20; ++step) {
    BOOST_TEST(plain.next().size() == 3u);
    const std::vector<Batch>& batches = ahead.next();
    BOOST_TEST(same(plain.batches(), batches));
    ahead.read_ahead();
    ahead.read_ahead();
    BOOST_TEST(same(plain.batches(), ahead.batches()));
    BOOST_TEST(to_text(plain.state()) == to_text(ahead.state()));
    BOOST_TEST(plain.epoch() == ahead.epoch());
  }
  BOOST_TEST(plain.epoch() > 0);
}

BOOST_AUTO_TEST_CASE(it_goes_on_from_its_state) {
  const IdCache text = make(captions(200));
  options.accumulate = 2;
  Feed one = feed_of(text);
  for (int step = 0; step < 5; ++step) one.next();
  one.read_ahead();
  Feed other = feed_of(text);
  other.read_ahead();  // reads the first batches, which restore() discards
  other.restore(parse_json(to_text(one.state()), "state"));
  for (int step = 0; step < 5; ++step) BOOST_TEST(same(one.next(), other.next()));
  BOOST_CHECK_THROW(other.restore(Json::object()), Json::exception);
}

BOOST_AUTO_TEST_CASE(the_last_step_of_the_last_epoch_may_be_short) {
  const IdCache text = make(captions(200));
  options.epochs = 2;
  Feed single = feed_of(text);
  size_t batches = 0;
  while (!single.next().empty()) ++batches;
  const size_t together = batches - 1;
  options.accumulate = int(together);
  Feed feed = feed_of(text);
  BOOST_TEST(feed.next().size() == together);
  BOOST_TEST(feed.epoch() == 1);
  BOOST_TEST(feed.next().size() == 1u);
  BOOST_TEST(feed.epoch() == 2);
  BOOST_TEST(feed.next().empty());
}

BOOST_AUTO_TEST_CASE(the_steps_of_epochs_are_counted_exactly) {
  const IdCache text = make(captions(200));
  for (const int accumulate : {1, 3})
    for (const int64_t epochs : {1, 2, 5}) {
      options.accumulate = accumulate;
      options.epochs = epochs;
      Feed feed = feed_of(text);
      BOOST_TEST_CONTEXT(accumulate << " batches, " << epochs << " epochs") {
        const int64_t counted = feed.steps(epochs, 0);
        int64_t taken = 0;
        while (!feed.next().empty()) ++taken;
        BOOST_TEST(counted == taken);
        BOOST_TEST(feed.steps(epochs, 0) == taken);  // wherever the feed is
        BOOST_TEST(feed.steps(epochs, 3) == std::min<int64_t>(3, taken));
      }
    }
}

BOOST_AUTO_TEST_CASE(an_epoch_counts_the_ends_of_sentences_on_every_side) {
  const IdCache text = make({{3, 4}, {5, 6}, {1, 2}});
  const Feed feed = feed_of(text);
  BOOST_TEST(feed.epoch_tokens() == 3 + 5 + 1 + 4 + 6 + 2 + 6);
}

BOOST_AUTO_TEST_CASE(merges_are_left_out_where_it_is_asked_for) {
  const IdCache text = make({{3, 4}});
  BOOST_TEST(Feed::growth(options) == 1);
  options.bpe_dropout = 0.1;
  BOOST_TEST(Feed::growth(options) == PairDropout::max_growth);
  // A word list has no merges.
  BOOST_CHECK_THROW(feed_of(text), UsageError);
}

BOOST_AUTO_TEST_SUITE_END()
