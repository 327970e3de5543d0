// Sampling: the distribution it draws from, and what a draw depends on.
#include "lib/search/engine/sampling.h"

#include <boost/test/unit_test.hpp>
#include <map>

#include "tests/unit/search/table_model.h"

using namespace tx_test;

namespace {

using Ids = std::vector<int>;

SearchOptions sampling(int nbest = 1) {
  SearchOptions o;
  o.sample = true;
  o.nbest = nbest;
  return o;
}

std::vector<TokenHypothesis> draw(const Model& model, const SearchOptions& o, int64_t line,
                                  int64_t longest = 6) {
  tx::Source source;
  source.line = line;
  const tx::Rules rules;
  tx::Sampling search(o, forbidden, longest, source, rules);
  return run(search, model, 0);
}

// One token of four, then the end.
Model one_of_four() {
  return [](const Ids& prefix) {
    return prefix.empty() ? from_weights({1e-30, 0.5, 0.3, 0.15, 0.05})
                          : from_weights({1, 1e-30, 1e-30, 1e-30, 1e-30});
  };
}

std::map<int, double> shares(const SearchOptions& o, int lines) {
  std::map<int, double> out;
  for (int line = 1; line <= lines; ++line) {
    const auto h = draw(one_of_four(), o, line);
    BOOST_REQUIRE(h.size() == 1u);
    BOOST_REQUIRE(h[0].ids.size() == 1u);
    out[h[0].ids[0]] += 1.0 / lines;
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(draws_by_probability) {
  auto found = shares(sampling(), 20000);
  const double wanted[] = {0.5, 0.3, 0.15, 0.05};
  for (int i = 0; i < 4; ++i) BOOST_TEST(std::abs(found[4 + i] - wanted[i]) < 0.012);
}

BOOST_AUTO_TEST_CASE(temperature_sharpens_and_flattens) {
  SearchOptions o = sampling();
  o.temperature = 0.5;  // squares the probabilities: .25 .09 .0225 .0025, sum .365
  auto found = shares(o, 20000);
  BOOST_TEST(std::abs(found[4] - 0.25 / 0.365) < 0.012);
  BOOST_TEST(std::abs(found[5] - 0.09 / 0.365) < 0.012);
}

BOOST_AUTO_TEST_CASE(top_k_keeps_the_likeliest) {
  SearchOptions o = sampling();
  o.top_k = 2;
  auto found = shares(o, 5000);
  BOOST_TEST(found.size() == 2u);
  BOOST_TEST(std::abs(found[4] - 0.625) < 0.025);
}

BOOST_AUTO_TEST_CASE(top_p_keeps_the_least_number_that_reaches_it) {
  SearchOptions o = sampling();
  o.top_p = 0.75;  // .5 + .3
  BOOST_TEST(shares(o, 2000).size() == 2u);
  o.top_p = 0.45;
  BOOST_TEST(shares(o, 100).size() == 1u);
  o.top_p = 0.97;
  BOOST_TEST(shares(o, 5000).size() == 4u);
}

BOOST_AUTO_TEST_CASE(a_draw_depends_on_seed_line_and_output_alone) {
  const Model model = random_model(1, 8);
  SearchOptions o = sampling(3);
  const auto first = draw(model, o, 17), again = draw(model, o, 17), other = draw(model, o, 18);
  BOOST_REQUIRE(first.size() == 3u);
  bool differs = false;
  for (size_t i = 0; i < 3; ++i) {
    BOOST_TEST(first[i].ids == again[i].ids);
    BOOST_TEST(first[i].log_p == again[i].log_p);
    differs = differs || first[i].ids != other[i].ids;
  }
  BOOST_TEST(differs);
  o.seed = 2;
  const auto seeded = draw(model, o, 17);
  BOOST_TEST((seeded[0].ids != first[0].ids || seeded[1].ids != first[1].ids));
  // One of several samples is the one that is drawn alone.
  const auto alone = draw(model, sampling(1), 17);
  BOOST_TEST(std::any_of(first.begin(), first.end(),
                         [&](const auto& h) { return h.ids == alone[0].ids; }));
}

BOOST_AUTO_TEST_CASE(scores_are_the_model_s_own) {
  const Model model = random_model(5, 6);
  SearchOptions o = sampling(8);
  o.temperature = 2;
  o.alpha = 0.6;
  const auto all = exhaustive(model, o.alpha, 6);
  for (const auto& h : draw(model, o, 3)) {
    if (!h.complete) continue;
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.ids == h.ids; });
    BOOST_REQUIRE(same != all.end());
    BOOST_TEST(h.score == same->score);
  }
}

BOOST_AUTO_TEST_CASE(a_sample_that_does_not_end_is_cut_and_flagged) {
  const Model endless = [](const Ids&) { return from_weights({1e-30, 1}); };
  const auto found = draw(endless, sampling(), 1, 4);
  BOOST_REQUIRE(found.size() == 1u);
  BOOST_TEST(!found[0].complete);
  BOOST_TEST(found[0].ids == Ids(3, 4));
}

// A model's own list of tokens that it never outputs may contain all of them.
BOOST_AUTO_TEST_CASE(without_any_token_the_output_ends) {
  tx::Source source;
  const tx::Rules rules;
  const Ids all = {0, 1, 2, 3, 4, 5, 6, 7};
  for (const int nbest : {1, 3}) {
    const SearchOptions o = sampling(nbest);
    tx::Sampling search(o, all, 6, source, rules);
    const auto found = run(search, one_of_four(), 0);
    BOOST_REQUIRE(found.size() == size_t(nbest));
    BOOST_TEST(found[0].ids.empty());
    BOOST_TEST(!found[0].complete);
  }
}
