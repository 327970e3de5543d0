// A model of a few tokens given by tables, and reference searches for the tests of beam search.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "lib/search/engine/beam.h"
#include "lib/subword/vocabulary.h"

namespace tx_test {

using tx::SearchOptions;
using tx::TokenHypothesis;
using tx::Vocabulary;

// log P of every token of the vocabulary after the tokens given (without <bos>).
using Model = std::function<std::vector<float>(const std::vector<int>&)>;

inline const std::vector<int> forbidden = {Vocabulary::pad, Vocabulary::unk, Vocabulary::bos};

// Runs a search to its end and counts its steps; top: candidates per row, 0: all columns.
template <class Search>
std::vector<TokenHypothesis> run(Search& search, const Model& model, int top,
                                 int* steps = nullptr) {
  std::vector<std::vector<int>> prefixes{{}};
  while (!search.done()) {
    std::vector<std::vector<int>> now;
    std::vector<float> values;
    std::vector<int32_t> ids;
    int width = 0;
    for (const auto& row : search.rows()) {
      now.push_back(row.parent < 0 ? std::vector<int>{} : prefixes[size_t(row.parent)]);
      if (row.parent >= 0) now.back().push_back(row.token);
      const std::vector<float> x = model(now.back());
      std::vector<int32_t> order(x.size());
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](int a, int b) { return x[size_t(a)] > x[size_t(b)]; });
      width = top ? std::min(top, int(x.size())) : int(x.size());
      if (!top) std::iota(order.begin(), order.end(), 0);
      for (int i = 0; i < width; ++i) {
        ids.push_back(order[size_t(i)]);
        values.push_back(x[size_t(order[size_t(i)])]);
      }
    }
    prefixes = now;
    search.advance({values.data(), top ? ids.data() : nullptr, width});
    if (steps) ++*steps;
  }
  return search.results();
}

inline std::vector<TokenHypothesis> beam_search(const Model& model, const SearchOptions& options,
                                                int64_t longest, int* steps = nullptr) {
  tx::Beam beam(options, forbidden, longest);
  return run(beam, model, tx::Beam::candidates(options, forbidden.size()), steps);
}

// Every complete output of at most `longest` labels, best score first.
inline void enumerate(const Model& model, double alpha, int64_t longest, TokenHypothesis prefix,
                      std::vector<TokenHypothesis>& out) {
  const std::vector<float> x = model(prefix.ids);
  for (int token = 0; token < int(x.size()); ++token) {
    if (std::count(forbidden.begin(), forbidden.end(), token)) continue;
    TokenHypothesis next = prefix;
    next.log_p += double(x[size_t(token)]);
    if (token == Vocabulary::eos) {
      next.score = next.log_p / tx::length_penalty(int64_t(next.ids.size()) + 1, alpha);
      out.push_back(next);
    } else if (int64_t(next.ids.size()) + 1 < longest) {
      next.ids.push_back(token);
      enumerate(model, alpha, longest, next, out);
    }
  }
}

inline std::vector<TokenHypothesis> exhaustive(const Model& model, double alpha, int64_t longest) {
  std::vector<TokenHypothesis> out;
  enumerate(model, alpha, longest, {}, out);
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  return out;
}

// Log-probabilities from weights of the tokens 3 (<eos>), 4, 5, ...
inline std::vector<float> from_weights(const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<float> out(3, -50.0f);
  for (double w : weights) out.push_back(float(std::log(w / sum)));
  return out;
}

// Weights from a hash of the prefix; the end becomes likelier with the length.
inline Model random_model(uint32_t seed, int tokens) {
  return [=](const std::vector<int>& prefix) {
    uint32_t state = seed * 2654435761u + 12345u;
    for (int id : prefix) state = (state ^ uint32_t(id)) * 16777619u + 7919u;
    std::vector<double> weights;
    for (int i = 0; i < tokens; ++i) {
      state = state * 1664525u + 1013904223u;
      weights.push_back(0.02 + double(state >> 8) / double(1 << 24));
    }
    weights[0] *= 0.3 * double(prefix.size() + 1);
    return from_weights(weights);
  };
}

}  // namespace tx_test
