// Diverse beam search: groups avoid the tokens that earlier groups chose.
#include <boost/test/unit_test.hpp>
#include <set>

#include "lib/search/engine/beam.h"
#include "tests/unit/search/table_model.h"

using namespace tx_test;

namespace {

using Ids = std::vector<int>;

SearchOptions with(int beam, int groups, double diversity) {
  SearchOptions o;
  o.beam = o.nbest = beam;
  o.groups = groups;
  o.diversity = diversity;
  return o;
}

std::vector<TokenHypothesis> diverse(const Model& model, const SearchOptions& o, int64_t longest) {
  tx::DiverseBeam search(o, forbidden, longest);
  return run(search, model, tx::Beam::candidates(o, forbidden.size()));
}

// 4, 5, 6 with .5, .3, .2; each then ends.
Model three_words() {
  return [](const Ids& prefix) {
    return prefix.empty() ? from_weights({1e-9, 0.5, 0.3, 0.2})
                          : from_weights({1, 1e-9, 1e-9, 1e-9});
  };
}

}  // namespace

BOOST_AUTO_TEST_CASE(one_group_is_a_beam) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    const Model model = random_model(seed, 5);
    const auto wanted = beam_search(model, with(4, 0, 0), 7);
    const auto found = diverse(model, with(4, 1, 3), 7);
    BOOST_REQUIRE(found.size() == wanted.size());
    for (size_t i = 0; i < found.size(); ++i) {
      BOOST_TEST(found[i].ids == wanted[i].ids);
      BOOST_TEST(found[i].score == wanted[i].score);
    }
  }
}

// Greedy groups: 4 leads 5 by ln(.5 / .3) = .51 and 6 by ln(.5 / .2) = .92. The third group pays
// twice for 4 if both groups before it chose it.
BOOST_AUTO_TEST_CASE(groups_by_hand) {
  const auto texts = [](double diversity) {
    std::vector<Ids> out;
    for (const auto& h : diverse(three_words(), with(3, 3, diversity), 5)) out.push_back(h.ids);
    return out;
  };
  BOOST_TEST((texts(0.2) == std::vector<Ids>{{4}}));
  BOOST_TEST((texts(0.6) == std::vector<Ids>{{4}, {5}}));
  BOOST_TEST((texts(1.0) == std::vector<Ids>{{4}, {5}, {6}}));
  const auto found = diverse(three_words(), with(3, 3, 1.0), 5);
  BOOST_TEST(std::abs(found[2].log_p - std::log(0.2)) < 1e-6);  // the model's, without the cost
}

// An alternative for each first token, with what a beam then finds.
BOOST_AUTO_TEST_CASE(alternatives) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Model model = random_model(seed, 5);
    SearchOptions plain = with(4, 0, 0), o = plain;
    plain.alpha = o.alpha = 0;
    o.alternatives = 3;
    o.check();
    BOOST_TEST(o.beam == 12);
    const auto found = diverse(model, o, 7);
    BOOST_REQUIRE(found.size() == 3);
    std::set<int> first;
    for (const auto& h : found) first.insert(h.ids.empty() ? -1 : h.ids.front());
    BOOST_TEST(first.size() == 3);
    for (const auto& h : found) {
      if (h.ids.empty()) continue;
      const Model begun = [&](const Ids& prefix) {
        Ids all = {h.ids.front()};
        all.insert(all.end(), prefix.begin(), prefix.end());
        return model(all);
      };
      const Ids rest(h.ids.begin() + 1, h.ids.end());
      BOOST_TEST((rest == beam_search(begun, plain, 6).front().ids));
    }
  }
}

// Outputs are real, with their exact scores, distinct, and best first.
BOOST_AUTO_TEST_CASE(scores_stay_those_of_the_model) {
  size_t distinct = 0, plain = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Model model = random_model(seed, 5);
    const auto all = exhaustive(model, 0.6, 6);
    const auto found = diverse(model, with(6, 3, 2), 6);
    std::set<Ids> seen;
    std::set<int> begins, usual;
    for (size_t i = 0; i < found.size(); ++i) {
      const auto same = std::find_if(all.begin(), all.end(),
                                     [&](const auto& other) { return other.ids == found[i].ids; });
      BOOST_REQUIRE(same != all.end());
      if (found[i].complete) BOOST_TEST(found[i].score == same->score);
      BOOST_TEST(seen.insert(found[i].ids).second);
      if (i > 0) BOOST_TEST(found[i].score <= found[i - 1].score);
      if (!found[i].ids.empty()) begins.insert(found[i].ids[0]);
    }
    for (const auto& h : beam_search(model, with(6, 0, 0), 6))
      if (!h.ids.empty()) usual.insert(h.ids[0]);
    distinct += begins.size();
    plain += usual.size();
  }
  BOOST_TEST(distinct > plain);
}
