#include "lib/eval/matching/edit_distance.h"

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"

namespace tx {
namespace {

constexpr int32_t infinite = 1 << 29;
constexpr int band = 25;

}  // namespace

// The band is wider where the lengths differ so much that neighbouring rows would not touch.
void BandedEditDistance::shape_rows() {
  const size_t n = hypothesis_.size(), m = reference_.size();
  const double ratio = n > 0 ? double(m) / double(n) : 1;
  const auto width = int64_t(band < ratio / 2 ? std::ceil(ratio / 2 + band) : band);
  rows_.resize(n + 1);
  rows_[0] = {0, m + 1, 0};
  for (size_t i = 1; i <= n; ++i) {
    const auto diagonal = int64_t(std::floor(double(i) * ratio));
    Row& row = rows_[i];
    row.first = size_t(std::max<int64_t>(0, diagonal - width));
    row.last = i == n ? m + 1 : size_t(std::min(int64_t(m) + 1, diagonal + width));
    row.offset = rows_[i - 1].offset + (rows_[i - 1].last - rows_[i - 1].first);
  }
}

int32_t BandedEditDistance::at(const std::vector<int32_t>& matrix, size_t i, size_t j) const {
  const Row& row = rows_[i];
  return j >= row.first && j < row.last ? matrix[row.offset + j - row.first] : infinite;
}

void BandedEditDistance::fill_row(size_t i, int32_t word, const int32_t* above,
                                  int32_t* row) const {
  const Row& here = rows_[i];
  const Row& up = rows_[i - 1];
  // Columns whose neighbours above are all stored need no check; the others are few.
  const auto cost_above = [&](size_t j) {
    return j >= up.first && j < up.last ? above[j - up.first] : infinite;
  };
  int32_t left = infinite;
  int32_t diagonal = here.first > 0 ? cost_above(here.first - 1) : infinite;
  for (size_t j = here.first; j < here.last; ++j) {
    const int32_t over = cost_above(j);
    int32_t cost = std::min(over, left) + 1;
    if (j > 0) cost = std::min(cost, diagonal + (word == reference_[j - 1] ? 0 : 1));
    left = row[j - here.first] = std::min(cost, infinite);
    diagonal = over;
  }
}

void BandedEditDistance::set(std::span<const int32_t> hypothesis,
                             std::span<const int32_t> reference) {
  hypothesis_ = hypothesis;
  reference_ = reference;
  shape_rows();
  const Row& last = rows_.back();
  before_.resize(last.offset + last.last - last.first);
  for (size_t j = 0; j <= reference.size(); ++j) before_[j] = int32_t(j);
  for (size_t i = 1; i <= hypothesis.size(); ++i) {
    fill_row(i, hypothesis[i - 1], &before_[rows_[i - 1].offset], &before_[rows_[i].offset]);
  }
  distance_ = before_.back();
  after_known_ = false;
}

void BandedEditDistance::trace(std::vector<Edit>& edits) const {
  edits.clear();
  for (size_t i = hypothesis_.size(), j = reference_.size(); i > 0 || j > 0;) {
    const int32_t cost = at(before_, i, j);
    TX_ASSERT(cost < infinite);
    const bool same = i > 0 && j > 0 && hypothesis_[i - 1] == reference_[j - 1];
    if (i > 0 && j > 0 && at(before_, i - 1, j - 1) + (same ? 0 : 1) == cost) {
      edits.push_back(same ? Edit::keep : Edit::replace);
      --i;
      --j;
    } else if (i > 0 && at(before_, i - 1, j) + 1 == cost) {
      edits.push_back(Edit::remove);
      --i;
    } else {
      edits.push_back(Edit::insert);
      --j;
    }
  }
  std::reverse(edits.begin(), edits.end());
}

void BandedEditDistance::fill_after() {
  const size_t n = hypothesis_.size(), m = reference_.size();
  after_.resize(before_.size());
  for (size_t i = n + 1; i-- > 0;) {
    const Row& row = rows_[i];
    int32_t right = infinite;
    for (size_t j = row.last; j-- > row.first;) {
      int32_t cost = i == n && j == m ? 0 : right + 1;
      if (i < n) {
        cost = std::min(cost, at(after_, i + 1, j) + 1);
        if (j < m) {
          const bool same = hypothesis_[i] == reference_[j];
          cost = std::min(cost, at(after_, i + 1, j + 1) + (same ? 0 : 1));
        }
      }
      right = after_[row.offset + j - row.first] = std::min(cost, infinite);
    }
  }
  after_known_ = true;
}

int32_t BandedEditDistance::distance_with(size_t begin, size_t end,
                                          std::span<const int32_t> words) {
  if (!after_known_) fill_after();
  const int32_t* above = &before_[rows_[begin].offset];
  for (size_t i = begin + 1; i <= end; ++i) {
    std::vector<int32_t>& row = scratch_[i % 2];
    if (row.size() < rows_[i].last - rows_[i].first) row.resize(rows_[i].last - rows_[i].first);
    fill_row(i, words[i - begin - 1], above, row.data());
    above = row.data();
  }
  const Row& last = rows_[end];
  int32_t min = infinite;
  for (size_t j = last.first; j < last.last; ++j) {
    min = std::min(min, above[j - last.first] + after_[last.offset + j - last.first]);
  }
  return min;
}

}  // namespace tx
