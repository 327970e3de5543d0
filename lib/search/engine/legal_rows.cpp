#include "lib/search/engine/legal_rows.h"

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"

namespace tx {

OpenOutput LegalRows::output_of(const Row& row) {
  OpenOutput output{{}, row.left, row.source};
  if (row.tree) {
    row.tree->path(row.leaf, tokens_);
    output.tokens = tokens_;
  } else {
    output.tokens = std::span(row.source->prefix).first(size_t(row.leaf));
  }
  is_forced_ = rules_.forced(output, forced_);
  return output;
}

bool LegalRows::may_follow(const OpenOutput& output, int token) const {
  if (is_forced_) return std::ranges::binary_search(forced_, token);
  return std::find(forbidden_.begin(), forbidden_.end(), token) == forbidden_.end() &&
         rules_.allows(output, token);
}

void LegalRows::strike(Scorer& scorer) {
  const std::span<int32_t> ids = scorer.ids();
  const size_t width = ids.size() / rows_.size();
  again_.clear();
  for (size_t i = 0; i < rows_.size(); ++i)
    if (!strike_candidates(rows_[i], ids.subspan(i * width, width))) again_.push_back(int32_t(i));
  if (!again_.empty()) look_again(scorer);
}

// False if too few candidates are left, or a required one is missing.
bool LegalRows::strike_candidates(const Row& row, std::span<int32_t> ids) {
  const OpenOutput output = output_of(row);
  const int wanted = is_forced_ ? std::min(wanted_, int(forced_.size())) : wanted_;
  int legal = 0;
  for (int32_t& id : ids) {
    if (id < 0) continue;  // the list is shorter
    if (may_follow(output, id))
      ++legal;
    else
      id = -1;
  }
  find_required(output);
  const bool has_required =
      std::ranges::all_of(required_, [&](int token) { return std::ranges::count(ids, token) > 0; });
  return has_required && (legal == int(ids.size()) || legal >= wanted);
}

void LegalRows::look_again(Scorer& scorer) {
  const size_t width = scorer.values().size() / rows_.size();
  for (size_t first = 0; first < again_.size(); first += Scorer::looks) {
    const size_t count = std::min(again_.size() - first, size_t(Scorer::looks));
    const std::span<const int32_t> rows = std::span(again_).subspan(first, count);
    const std::span<const float> whole = scorer.look_again(rows);
    const size_t vocabulary = whole.size() / count;
    for (size_t i = 0; i < count; ++i) {
      const size_t at = size_t(rows[i]) * width;
      choose(rows_[size_t(rows[i])], whole.subspan(i * vocabulary, vocabulary),
             scorer.values().subspan(at, width), scorer.ids().subspan(at, width));
    }
  }
}

// Selects the best of all allowed tokens: best first, ties by the lower token.
void LegalRows::choose(const Row& row, std::span<const float> log_p, std::span<float> values,
                       std::span<int32_t> ids) {
  const OpenOutput output = output_of(row);
  order_.clear();
  for (size_t token = 0; token < log_p.size(); ++token) {
    if (std::isinf(log_p[token]) || !may_follow(output, int(token))) continue;
    check_number(log_p[token]);
    order_.push_back(int32_t(token));
  }
  const size_t kept = std::min(order_.size(), ids.size());
  std::partial_sort(order_.begin(), order_.begin() + ptrdiff_t(kept), order_.end(),
                    [&](int32_t a, int32_t b) {
                      const float x = log_p[size_t(a)], y = log_p[size_t(b)];
                      return x != y ? x > y : a < b;
                    });
  std::fill(ids.begin(), ids.end(), -1);
  for (size_t i = 0; i < kept; ++i) {
    ids[i] = order_[i];
    values[i] = log_p[size_t(order_[i])];
  }
  put_required(output, log_p, values, ids);
}

// Puts required tokens in the places of the least probable candidates; at least one is kept.
void LegalRows::put_required(const OpenOutput& output, std::span<const float> log_p,
                             std::span<float> values, std::span<int32_t> ids) {
  find_required(output);
  size_t place = ids.size();
  for (const int token : required_) {
    if (std::ranges::count(ids, token) || !may_follow(output, token)) continue;
    while (place > 1 && std::ranges::count(required_, ids[place - 1])) --place;
    if (place <= 1) return;
    --place;
    ids[place] = token;
    values[place] = log_p[size_t(token)];
  }
}

}  // namespace tx
