#include "lib/train/rank_sum.h"

#include <algorithm>
#include <cstring>

#include "lib/base/error.h"

namespace tx {

namespace {

void collect(TermRange node, TermRange share, std::vector<TermRange>& found) {
  if (node.hi <= share.lo || share.hi <= node.lo) return;
  if (share.lo <= node.lo && node.hi <= share.hi) return found.push_back(node);
  const int middle = node.lo + left_part(node.size());
  collect({node.lo, middle}, share, found);
  collect({middle, node.hi}, share, found);
}

// Calls add(i, j) where the sum of part j is to be added to that of part i: `parts` are subtrees
// of `node` that together are the whole of it, and part 0 ends as the sum.
template <class Add>
size_t add_parts(TermRange node, const std::vector<TermRange>& parts, size_t& next,
                 const Add& add) {
  if (parts[next].size() == node.size()) return next++;
  const int middle = node.lo + left_part(node.size());
  const size_t left = add_parts({node.lo, middle}, parts, next, add);
  add(left, add_parts({middle, node.hi}, parts, next, add));
  return left;
}

}  // namespace

TermRange share_of(int terms, int rank, int ranks) {
  const auto begin = [&](int r) { return int(int64_t(terms) * r / ranks); };
  return {begin(rank), begin(rank + 1)};
}

std::vector<TermRange> subtrees(int terms, TermRange share) {
  std::vector<TermRange> found;
  if (share.size() > 0) collect({0, terms}, share, found);
  return found;
}

int RankSum::blocks(int terms, int ranks) {
  int most = 0;
  for (int r = 0; r < ranks; ++r) {
    const std::vector<TermRange> parts = subtrees(terms, share_of(terms, r, ranks));
    int levels = 0;
    for (const TermRange& part : parts) levels = std::max(levels, TreeSum::levels(part.size()));
    most = std::max(most, int(parts.size()) + levels);
  }
  return most;
}

RankSum::RankSum(Communicator& ranks, Backend& backend, Matrix block, StepRecord* record)
    : ranks_(ranks), backend_(backend), block_(block), record_(record) {
  TX_ASSERT(!on(backend, [](auto& k) { return k.has_own_memory(); }));
}

void RankSum::begin(int terms) {
  terms_ = terms;
  next_ = 0;
  mine_ = subtrees(terms, share_of(terms, ranks_.rank(), ranks_.size()));
  all_.clear();
  counts_.clear();
  for (int r = 0; r < ranks_.size(); ++r) {
    const std::vector<TermRange> parts = subtrees(terms, share_of(terms, r, ranks_.size()));
    all_.insert(all_.end(), parts.begin(), parts.end());
    counts_.push_back(parts.size());
  }
  kept_records_.resize(*std::max_element(counts_.begin(), counts_.end()));
  if (kept_.size() < mine_.size()) kept_.resize(mine_.size());
}

void RankSum::keep() {
  TX_ASSERT(next_ < mine_.size());
  std::vector<char>& to = kept_[next_];
  to.resize(size_t(block_.cols) * size_of(block_.dtype));
  std::memcpy(to.data(), block_.data, to.size());
  kept_records_[next_++] = *record_;
  clear_sums(backend_, record_);
}

void RankSum::finish() {
  TX_ASSERT(next_ == mine_.size());
  finish_record();
  if (block_.dtype == DType::f64)
    finish_block<double>();
  else
    finish_block<float>();
}

void RankSum::finish_record() {
  const size_t most = kept_records_.size();
  std::vector<StepRecord> gathered(most * counts_.size()), parts;
  ranks_.gather_all(kept_records_.data(), most * sizeof(StepRecord), gathered.data());
  for (size_t r = 0; r < counts_.size(); ++r)
    for (size_t i = 0; i < counts_[r]; ++i) parts.push_back(gathered[r * most + i]);
  size_t next = 0;
  add_parts({0, terms_}, all_, next, [&](size_t to, size_t from) {
    on(backend_, [&](auto& k) { k.add_sums(&parts[from], &parts[to]); });
  });
  clear_sums(backend_, record_);
  on(backend_, [&](auto& k) { k.add_sums(&parts[0], record_); });
}

// A round is for `share` elements of every rank: it gets them of all partial sums, adds them, and
// gives the sum to all.
template <class T>
void RankSum::finish_block() {
  constexpr int64_t share = 65536;
  const auto ranks = int64_t(counts_.size()), me = int64_t(ranks_.rank());
  T* block = block_.row<T>(0);
  const auto length = [&](int64_t at) { return std::clamp<int64_t>(block_.cols - at, 0, share); };
  std::vector<size_t> out_bytes(counts_.size()), in_bytes(counts_.size());
  out_.resize(mine_.size() * counts_.size() * share * sizeof(T));
  in_.resize(std::max(all_.size(), counts_.size()) * share * sizeof(T));
  std::vector<T> sum(share);
  for (int64_t at = 0; at < block_.cols; at += ranks * share) {
    char* to = out_.data();
    for (int64_t r = 0; r < ranks; ++r) {
      const int64_t first = at + r * share, bytes = length(first) * int64_t(sizeof(T));
      for (size_t i = 0; i < mine_.size() && bytes; ++i, to += bytes)
        std::memcpy(to, kept_[i].data() + first * int64_t(sizeof(T)), size_t(bytes));
      out_bytes[size_t(r)] = mine_.size() * size_t(bytes);
    }
    const int64_t own = length(at + me * share);
    for (size_t r = 0; r < counts_.size(); ++r) in_bytes[r] = counts_[r] * size_t(own) * sizeof(T);
    ranks_.exchange(out_.data(), out_bytes, in_.data(), in_bytes);
    T* parts = reinterpret_cast<T*>(in_.data());
    size_t next = 0;
    add_parts({0, terms_}, all_, next, [&](size_t left, size_t right) {
      T* x = parts + int64_t(left) * own;
      const T* y = parts + int64_t(right) * own;
      for (int64_t i = 0; i < own; ++i) x[i] += y[i];
    });
    std::copy_n(parts, own, sum.begin());
    ranks_.gather_all(sum.data(), share * sizeof(T), in_.data());
    for (int64_t r = 0; r < ranks; ++r) {
      const int64_t first = at + r * share;
      if (length(first)) std::copy_n(parts + r * share, length(first), block + first);
    }
  }
}

}  // namespace tx
