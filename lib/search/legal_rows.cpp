#include "lib/search/legal_rows.h"

#include <algorithm>

#include "lib/base/error.h"

namespace tx {

void LegalRows::begin() {
  before_.swap(rows_);
  rows_.clear();
}

void LegalRows::add(int32_t parent, int piece, int64_t left) {
  const Utf8Guard::State before = parent < 0 ? Utf8Guard::State() : before_[size_t(parent)].state;
  rows_.push_back({guard_.after(before, piece), left});
}

void LegalRows::strike(Scorer& scorer) {
  const std::span<int32_t> ids = scorer.ids();
  const size_t width = ids.size() / rows_.size();
  again_.clear();
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (!strike_candidates(rows_[i], ids.subspan(i * width, width))) again_.push_back(int32_t(i));
  }
  if (!again_.empty()) look_again(scorer);
}

// False where too few candidates are left.
bool LegalRows::strike_candidates(const Row& row, std::span<int32_t> ids) const {
  int legal = 0;
  bool struck = false;
  for (int32_t& id : ids) {
    if (guard_.allows(row.state, id, row.left)) {
      legal += std::find(forbidden_.begin(), forbidden_.end(), id) == forbidden_.end();
    } else {
      id = -1;
      struck = true;
    }
  }
  return !struck || legal >= wanted_;
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

// The best of all pieces that may follow, ordered as the candidates were: best first, of equals the
// lower piece.
void LegalRows::choose(const Row& row, std::span<const float> log_p, std::span<float> values,
                       std::span<int32_t> ids) {
  order_.clear();
  for (size_t piece = 0; piece < log_p.size(); ++piece) {
    if (!guard_.allows(row.state, int(piece), row.left)) continue;
    check_number(log_p[piece]);
    order_.push_back(int32_t(piece));
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
}

}  // namespace tx
