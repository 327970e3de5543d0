// Forced targets: their scores are the model's.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "lib/search/engine/sampling.h"
#include "tests/unit/search/table_model.h"

using namespace tx_test;

namespace {

using Ids = std::vector<int>;

// The likeliest output is 4, 5, <eos>.
Model by_turns() {
  return [](const Ids& prefix) {
    if (prefix.size() == 2) return from_weights({0.7, 0.1, 0.1, 0.05, 0.05});
    return prefix.empty() ? from_weights({0.1, 0.6, 0.2, 0.05, 0.05})
                          : from_weights({0.2, 0.1, 0.5, 0.1, 0.1});
  };
}

TokenHypothesis score(Ids labels, double alpha = 0) {
  SearchOptions o;
  o.alpha = alpha;
  tx::ForcedTarget search(o, std::move(labels));
  const auto found = run(search, by_turns(), 0);
  BOOST_REQUIRE(found.size() == 1u);
  return found[0];
}

}  // namespace

BOOST_AUTO_TEST_CASE(log_p_is_that_of_tokens_and_end) {
  const TokenHypothesis h = score({4, 5, tx::Vocabulary::eos}, 0.6);
  BOOST_TEST(h.ids == (Ids{4, 5}), boost::test_tools::per_element());
  BOOST_TEST(h.complete);
  BOOST_TEST(std::abs(h.log_p - std::log(0.6 * 0.5 * 0.7)) < 1e-6);
  BOOST_TEST(h.score == h.log_p / tx::length_penalty(3, 0.6));
}

BOOST_AUTO_TEST_CASE(unlikely_tokens_and_the_end_alone_have_theirs) {
  BOOST_TEST(std::abs(score({7, 4, tx::Vocabulary::eos}).log_p - std::log(0.05 * 0.1 * 0.7)) <
             1e-6);
  const TokenHypothesis nothing = score({tx::Vocabulary::eos});
  BOOST_TEST(nothing.ids.empty());
  BOOST_TEST(nothing.complete);
  BOOST_TEST(std::abs(nothing.log_p - std::log(0.1)) < 1e-6);
}

BOOST_AUTO_TEST_CASE(what_has_been_cut_has_no_end) {
  const TokenHypothesis h = score({4, 5});
  BOOST_TEST(h.ids == (Ids{4, 5}), boost::test_tools::per_element());
  BOOST_TEST(!h.complete);
  BOOST_TEST(std::abs(h.log_p - std::log(0.6 * 0.5)) < 1e-6);
}
