#include "lib/eval/matching/edit_distance.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "lib/base/error.h"

namespace tx {

namespace {

constexpr int32_t infinite = 1 << 29;
constexpr int band = 25;

}  // namespace

// The band is wider if the lengths differ so much that adjacent rows would not overlap.
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
  for (size_t i = 1; i <= hypothesis.size(); ++i)
    fill_row(i, hypothesis[i - 1], &before_[rows_[i - 1].offset], &before_[rows_[i].offset]);
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
  for (size_t j = last.first; j < last.last; ++j)
    min = std::min(min, above[j - last.first] + after_[last.offset + j - last.first]);
  return min;
}

bool ShiftSearch::Move::better_than(const Move& other) const {
  return std::tuple(gain, length, -start, -target) >
         std::tuple(other.gain, other.length, -other.start, -other.target);
}

void ShiftSearch::align() {
  distance_.trace(edits_);
  aligned_.clear();
  hypothesis_errors_.assign(1, 0);
  reference_errors_.assign(1, 0);
  int place = -1;
  for (const Edit edit : edits_) {
    const int error = edit == Edit::keep ? 0 : 1;
    if (edit != Edit::insert) {
      ++place;
      hypothesis_errors_.push_back(hypothesis_errors_.back() + error);
    }
    if (edit != Edit::remove) {
      aligned_.push_back(place);
      reference_errors_.push_back(reference_errors_.back() + error);
    }
  }
}

// The phrase must have an error at its place and at its target, and must not be there already.
bool ShiftSearch::worth_a_try(int start, int reference_start, int length) const {
  const auto errors = [length](const std::vector<int>& sums, int begin) {
    return sums[size_t(begin + length)] - sums[size_t(begin)];
  };
  if (errors(hypothesis_errors_, start) == 0) return false;
  if (errors(reference_errors_, reference_start) == 0) return false;
  const int place = aligned_[size_t(reference_start)];
  return place < start || place >= start + length;
}

// The words that change places, and the first's position; a target inside them counts after it.
void ShiftSearch::rotate(int start, int length, int target, std::vector<int32_t>& words,
                         int& begin) const {
  const auto at = [&](int i) { return words_.begin() + std::min(i, int(words_.size())); };
  const int end = start + length;
  begin = std::min(start, target);
  words.clear();
  if (target < start) {
    words.insert(words.end(), at(start), at(end));
    words.insert(words.end(), at(target), at(start));
  } else {
    words.insert(words.end(), at(end), at(target > end ? target : end + target - start));
    words.insert(words.end(), at(start), at(end));
  }
}

ShiftSearch::Move ShiftSearch::try_move(int start, int length, int target) {
  int begin = 0;
  rotate(start, length, target, moved_, begin);
  const auto first = size_t(begin);
  const int32_t after = distance_.distance_with(first, first + moved_.size(), moved_);
  return {distance_.distance() - after, start, length, target};
}

void ShiftSearch::try_targets(int start, int reference_start, int length) {
  int last = -1;
  for (int offset = -1; offset < length; ++offset) {
    const int place = reference_start + offset;
    const int target = place < 0 ? 0 : aligned_[size_t(place)] + 1;
    if (target == last) continue;
    last = target;
    const Move move = try_move(start, length, target);
    ++candidates_;
    if (!found_ || move.better_than(best_)) best_ = move;
    found_ = true;
  }
}

bool ShiftSearch::find_best() {
  found_ = false;
  const int n = int(words_.size()), m = int(reference_.size());
  for (int start = 0; start < n; ++start) {
    const int low = std::max(0, start - max_distance), high = std::min(m - 1, start + max_distance);
    for (int other = low; other <= high; ++other) {
      for (int length = 1; length <= max_phrase; ++length) {
        if (start + length > n || other + length > m ||
            words_[size_t(start + length - 1)] != reference_[size_t(other + length - 1)])
          break;
        if (!worth_a_try(start, other, length)) continue;
        try_targets(start, other, length);
        if (candidates_ >= max_candidates) return false;
      }
    }
  }
  return true;
}

int64_t ShiftSearch::edits(std::span<const int32_t> hypothesis,
                           std::span<const int32_t> reference) {
  if (reference.empty()) return int64_t(hypothesis.size());
  words_.assign(hypothesis.begin(), hypothesis.end());
  reference_ = reference;
  candidates_ = 0;
  int64_t moves = 0;
  distance_.set(words_, reference_);
  for (;;) {
    if (distance_.distance() == 0) break;
    align();
    // If the candidates run out, the best move so far is not made.
    if (!find_best() || !found_ || best_.gain <= 0) break;
    int begin = 0;
    rotate(best_.start, best_.length, best_.target, moved_, begin);
    std::copy(moved_.begin(), moved_.end(), words_.begin() + begin);
    ++moves;
    distance_.set(words_, reference_);
  }
  return moves + distance_.distance();
}

}  // namespace tx
