// Beam search against an exhaustive one, and what it must do at ties, bounds and ends.
#include <boost/test/unit_test.hpp>
#include <random>
#include <tuple>

#include "lib/base/error.h"
#include "tests/unit/search/table_model.h"

using namespace tx_test;
using tx::length_penalty;

namespace {

constexpr int a = 4, b = 5;
using Ids = std::vector<int>;

SearchOptions with(int beam, double alpha, int nbest = 1) {
  SearchOptions o;
  o.beam = beam;
  o.alpha = alpha;
  o.nbest = nbest;
  return o;
}

// P(a) .6, P(eos) .4, then P(eos after a) .5.
Model short_or_long() {
  return [](const Ids& prefix) {
    if (prefix.empty()) return from_weights({0.4, 0.6, 1e-9});
    if (prefix == Ids{a}) return from_weights({0.5, 1e-9, 0.5});
    return from_weights({1e-6, 1, 1});
  };
}

}  // namespace

BOOST_AUTO_TEST_CASE(length_penalty_by_hand) {
  const std::pair<int, double> wanted[] = {
      {1, 1}, {5, 1.358655}, {10, 1.732862}, {20, 2.354362}, {50, 3.778565}};
  for (auto [n, value] : wanted) BOOST_TEST(std::abs(length_penalty(n, 0.6) - value) < 1e-6);
  BOOST_TEST(std::abs(length_penalty(10, 0.3) - 1.316382) < 1e-6);
  BOOST_TEST(std::abs(length_penalty(100, 0.3) - 2.359997) < 1e-6);
}

BOOST_AUTO_TEST_CASE(beam_1_is_greedy) {
  const auto greedy = beam_search(short_or_long(), with(1, 0.6), 10);
  BOOST_REQUIRE(greedy.size() == 1u);
  BOOST_TEST(greedy[0].ids == Ids{a});
  BOOST_TEST(greedy[0].complete);
  BOOST_TEST(std::abs(greedy[0].log_p - std::log(0.3)) < 1e-6);
  BOOST_TEST(std::abs(greedy[0].score + 1.097611) < 1e-6);
  const auto beam = beam_search(short_or_long(), with(2, 0.6, 2), 10);
  BOOST_REQUIRE(beam.size() == 2u);
  BOOST_TEST(beam[0].ids == Ids{});
  BOOST_TEST(std::abs(beam[0].score + 0.916291) < 1e-6);
  BOOST_TEST(beam[1].ids == Ids{a});
}

BOOST_AUTO_TEST_CASE(beam_1_follows_the_likeliest_token_of_random_models) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Model model = random_model(seed, 6);
    Ids greedy;
    bool ended = false;
    while (!ended && greedy.size() < 9) {
      const auto x = model(greedy);
      const int best = int(std::max_element(x.begin() + 3, x.end()) - x.begin());
      ended = best == Vocabulary::eos;
      if (!ended) greedy.push_back(best);
    }
    for (const double alpha : {0.0, 0.6, 2.0}) {
      const auto found = beam_search(model, with(1, alpha), 10);
      BOOST_TEST(found[0].ids == greedy);
      // An output that ends before the last step, number 10, must be complete.
      if (ended) BOOST_TEST(found[0].complete);
    }
  }
}

// A beam wider than the whole tree misses nothing.
BOOST_AUTO_TEST_CASE(a_wide_beam_equals_exhaustive_search) {
  for (const double alpha : {0.0, 0.6, 1.0}) {
    for (uint32_t seed = 0; seed < 30; ++seed) {
      const Model model = random_model(seed, 4);
      const auto all = exhaustive(model, alpha, 5);
      const auto found = beam_search(model, with(200, alpha, 5), 5);
      BOOST_REQUIRE(found.size() == 5u);
      for (size_t i = 0; i < found.size(); ++i) {
        BOOST_TEST(found[i].ids == all[i].ids);
        BOOST_TEST(found[i].score == all[i].score);
        BOOST_TEST(found[i].log_p == all[i].log_p);
        BOOST_TEST(found[i].complete);
      }
    }
  }
}

// A narrow beam returns real outputs with their exact scores, never better than the best.
BOOST_AUTO_TEST_CASE(a_narrow_beam_reports_true_scores) {
  std::vector<int> best_found;
  for (const int width : {1, 3, 6, 12}) {
    best_found.push_back(0);
    for (uint32_t seed = 0; seed < 100; ++seed) {
      const Model model = random_model(seed, 5);
      const auto all = exhaustive(model, 0.6, 6);
      const auto found = beam_search(model, with(width, 0.6, width), 6);
      for (const auto& h : found) {
        const auto same = std::find_if(all.begin(), all.end(),
                                       [&](const auto& other) { return other.ids == h.ids; });
        BOOST_REQUIRE(same != all.end());
        if (h.complete) BOOST_TEST(h.score == same->score);
        BOOST_TEST((!h.complete || h.score <= all[0].score));
      }
      best_found.back() += found[0].ids == all[0].ids;
    }
  }
  // These models are nearly uniform, so a narrow beam often fails: it finds 4, 27, 81, 99 of 100.
  BOOST_TEST(best_found[1] > best_found[0]);
  BOOST_TEST(best_found[2] > best_found[1]);
  BOOST_TEST(best_found[3] > 95);
}

BOOST_AUTO_TEST_CASE(stops_when_no_open_hypothesis_can_win) {
  // <eos> is nearly certain after one token, so that longer hypotheses soon cannot win, although
  // 1000 labels are allowed.
  const Model model = [](const Ids& prefix) {
    return prefix.empty() ? from_weights({1e-6, 0.5, 0.5}) : from_weights({1, 1e-4, 1e-4});
  };
  int steps = 0;
  const auto found = beam_search(model, with(2, 0.6, 2), 1000, &steps);
  BOOST_TEST(found[0].ids == Ids{a});
  BOOST_TEST(found[1].ids == Ids{b});
  BOOST_TEST(steps >= 2);
  BOOST_TEST(steps <= 4);
}

// With nbest equal to the beam no hypothesis is dropped.
BOOST_AUTO_TEST_CASE(dropped_hypotheses_cannot_win) {
  int all_steps = 0, steps = 0;
  for (uint32_t seed = 0; seed < 400; ++seed)
    for (const int beam : {2, 5, 16})
      for (const double alpha : {0.0, 0.6, 1.0}) {
        const Model model = random_model(seed, 6);
        const auto all = beam_search(model, with(beam, alpha, beam), 12, &all_steps);
        for (int nbest : {1, beam / 2}) {
          const auto best = beam_search(model, with(beam, alpha, nbest), 12, &steps);
          BOOST_REQUIRE(best.size() == std::min(all.size(), size_t(nbest)));
          for (size_t i = 0; i < best.size(); ++i) {
            BOOST_TEST(best[i].ids == all[i].ids);
            BOOST_TEST(best[i].score == all[i].score);
          }
        }
      }
  BOOST_TEST(steps < 1.8 * all_steps);
}

BOOST_AUTO_TEST_CASE(does_not_stop_while_a_longer_one_may_win) {
  // Two short outputs finish early, but log P falls so slowly after "b" that alpha makes a long
  // output the best.
  const Model model = [](const Ids& prefix) {
    if (prefix.empty()) return from_weights({0.3, 0.3, 0.4});
    if (prefix[0] == a) return from_weights({1, 1e-9, 1e-9});
    return prefix.size() < 8 ? from_weights({1e-6, 1e-6, 1}) : from_weights({1, 1e-6, 1e-6});
  };
  const auto found = beam_search(model, with(2, 1.0), 12);
  BOOST_TEST(found[0].ids == Ids(8, b));
}

BOOST_AUTO_TEST_CASE(equal_scores_prefer_the_lower_row_then_the_lower_token) {
  const Model even = [](const Ids& prefix) {
    return prefix.size() < 2 ? from_weights({1e-9, 1, 1, 1}) : from_weights({1, 1e-9, 1e-9, 1e-9});
  };
  const auto found = beam_search(even, with(3, 0.6, 3), 6);
  BOOST_TEST(found[0].ids == (Ids{4, 4}));
  BOOST_TEST(found[1].ids == (Ids{4, 5}));
  BOOST_TEST(found[2].ids == (Ids{4, 6}));
  BOOST_TEST(found[0].score == found[2].score);
}

// Few distinct scores, so that many are equal; every other beam avoids some tokens.
BOOST_AUTO_TEST_CASE(open_rows_are_those_of_a_sort_of_all_candidates) {
  constexpr int width = 9, tokens = 30, cost = 2;
  using Key = std::tuple<double, int, int32_t>;  // rank falls, row and token rise
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const int beam_size = 1 + int(seed % 7);
    tx::Beam beam(with(beam_size, 0.6), forbidden, 100);
    std::vector<double> open{0};
    for (int step = 0; step < 6; ++step) {
      const std::vector<int32_t> avoided{4, 9, 9, 13};
      if (seed % 2) beam.avoid(avoided, cost);
      std::vector<float> values;
      std::vector<int32_t> ids;
      std::vector<Key> all;
      for (size_t row = 0; row < open.size(); ++row) {
        float value = 0;  // falls along a row; equal ones in the order of their tokens
        int32_t last = 0;
        for (int i = 0; i < width; ++i) {
          const int32_t id = i == 5 ? -1 : int32_t(1 + (random() + unsigned(i)) % (tokens - 1));
          if (id <= last) value -= float(1 + random() % 2);
          values.push_back(value);
          if (id < 0 || id == Vocabulary::eos || std::ranges::count(ids.end() - i, ids.end(), id)) {
            ids.push_back(-1);
            continue;
          }
          ids.push_back(last = id);
          if (std::ranges::count(forbidden, id)) continue;
          const double taken = seed % 2 ? cost * double(std::ranges::count(avoided, id)) : 0;
          all.emplace_back(-(open[row] + double(values.back()) - taken), int(row), id);
        }
      }
      std::ranges::sort(all);
      beam.advance({values.data(), ids.data(), width});
      std::vector<double> next;
      BOOST_REQUIRE(beam.rows().size() == std::min(all.size(), size_t(beam_size)));
      for (size_t i = 0; i < beam.rows().size(); ++i) {
        const auto [rank, row, id] = all[i];
        BOOST_TEST(beam.rows()[i].parent == row);
        BOOST_TEST(beam.rows()[i].token == id);
        for (int at = row * width; at < (row + 1) * width; ++at)
          if (ids[size_t(at)] == id) next.push_back(open[size_t(row)] + double(values[size_t(at)]));
      }
      open = next;
    }
  }
}

BOOST_AUTO_TEST_CASE(the_longest_output_is_cut_and_flagged) {
  const Model endless = [](const Ids&) { return from_weights({1e-6, 0.6, 0.4}); };
  int steps = 0;
  const auto found = beam_search(endless, with(2, 0.6, 2), 4, &steps);
  BOOST_TEST(steps == 4);
  BOOST_REQUIRE(!found.empty());
  BOOST_TEST(!found[0].complete);
  BOOST_TEST(found[0].ids == Ids(3, a));
  BOOST_TEST(std::abs(found[0].log_p - 3 * std::log(0.6)) < 1e-5);
  BOOST_TEST(found[0].score == found[0].log_p / length_penalty(3, 0.6));
}

BOOST_AUTO_TEST_CASE(a_longest_output_of_one_label_is_empty) {
  const Model endless = [](const Ids&) { return from_weights({1e-6, 0.6, 0.4}); };
  const auto found = beam_search(endless, with(4, 0.6, 4), 1);
  BOOST_REQUIRE(!found.empty());
  BOOST_TEST(found[0].ids.empty());
}

BOOST_AUTO_TEST_CASE(special_tokens_are_never_generated) {
  const Model tempting = [](const Ids& prefix) {
    auto x = from_weights({0.1 * double(prefix.size()), 0.5, 0.5});
    x[Vocabulary::pad] = x[Vocabulary::unk] = x[Vocabulary::bos] = 0;
    return x;
  };
  for (const auto& h : beam_search(tempting, with(4, 0.6, 4), 8)) {
    for (const int id : h.ids) BOOST_TEST(id > Vocabulary::eos);
  }
}

BOOST_AUTO_TEST_CASE(a_vocabulary_smaller_than_the_beam) {
  const Model one_token = [](const Ids&) { return from_weights({0.5, 0.5}); };
  const auto found = beam_search(one_token, with(10, 0.6, 3), 5);
  BOOST_REQUIRE(found.size() == 3u);
  BOOST_TEST(found[0].ids == Ids{});
  BOOST_TEST(found[1].ids == Ids{a});
}

BOOST_AUTO_TEST_CASE(values_that_are_no_numbers_are_refused) {
  const Model broken = [](const Ids&) { return std::vector<float>(6, std::nanf("")); };
  BOOST_CHECK_THROW(beam_search(broken, with(2, 0.6), 5), tx::DataError);
}
