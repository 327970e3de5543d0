#include "lib/eval/matching/shifts.h"

#include <algorithm>
#include <tuple>

namespace tx {

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

// The phrase must be wrong where it is, the place it would go to must be wrong as well, and it must
// not be there already.
bool ShiftSearch::worth_a_try(int start, int reference_start, int length) const {
  const auto errors = [length](const std::vector<int>& sums, int begin) {
    return sums[size_t(begin + length)] - sums[size_t(begin)];
  };
  if (errors(hypothesis_errors_, start) == 0) return false;
  if (errors(reference_errors_, reference_start) == 0) return false;
  const int place = aligned_[size_t(reference_start)];
  return place < start || place >= start + length;
}

// The words that change places, and the place of the first of them. A target inside the phrase
// counts in words after it.
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
    const int low = std::max(0, start - farthest), high = std::min(m - 1, start + farthest);
    for (int other = low; other <= high; ++other) {
      for (int length = 1; length <= longest_phrase; ++length) {
        if (start + length > n || other + length > m ||
            words_[size_t(start + length - 1)] != reference_[size_t(other + length - 1)]) {
          break;
        }
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
    // The best move is not made where the candidates ran out while it was sought.
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
