#include "lib/train/ranks/rank_sum.h"

#include <algorithm>

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

// On rank 0 one at least: a save has the moments of all ranks there and in the gradients' block.
int RankSum::blocks(int terms, int ranks) {
  int max = 0;
  for (int r = 0; r < ranks; ++r) {
    const std::vector<TermRange> parts = subtrees(terms, share_of(terms, r, ranks));
    int levels = r == 0 ? 1 : 0;
    for (const TermRange& part : parts) levels = std::max(levels, TreeSum::levels(part.size()));
    max = std::max(max, std::max(int(parts.size()) - 1, 0) + levels);
  }
  return max;
}

size_t RankSum::passage(int terms, const Division& division, size_t each) {
  if (division.rounds() == 0) return 0;
  size_t all = 0, max = 0;
  for (int r = 0; r < division.ranks(); ++r) {
    const size_t parts = subtrees(terms, share_of(terms, r, division.ranks())).size();
    all += parts;
    max = std::max(max, parts);
  }
  const size_t out = max > 1 ? max * size_t(division.round(0).count) : 0;
  return (all * size_t(division.longest(0)) + out) * each;
}

RankSum::RankSum(Backend& backend, Mover& mover, const Division& division, RankOf self,
                 Matrix block, StepRecord* record)
    : backend_(backend),
      mover_(mover),
      division_(division),
      self_(self),
      block_(block),
      record_(record),
      records_(backend),
      out_(backend),
      in_(backend) {}

void RankSum::begin(int terms) {
  terms_ = terms;
  next_ = 0;
  mine_ = subtrees(terms, share_of(terms, self_.rank, self_.ranks));
  all_.clear();
  counts_.clear();
  for (int r = 0; r < self_.ranks; ++r) {
    const std::vector<TermRange> parts = subtrees(terms, share_of(terms, r, self_.ranks));
    all_.insert(all_.end(), parts.begin(), parts.end());
    counts_.push_back(parts.size());
  }
  const size_t max = *std::max_element(counts_.begin(), counts_.end());
  records_.reserve(max * counts_.size() * sizeof(StepRecord));
  while (kept_.size() + 1 < mine_.size()) kept_.emplace_back(backend_);
}

void RankSum::reserve(int terms) {
  begin(terms);
  for (DeviceBytes& block : kept_) block.reserve(size_t(block_.cols) * size_of(block_.dtype));
}

void RankSum::keep() {
  TX_ASSERT(next_ < mine_.size());
  const size_t max = *std::max_element(counts_.begin(), counts_.end());
  auto* records = reinterpret_cast<StepRecord*>(records_.data()) + size_t(self_.rank) * max;
  const size_t bytes = size_t(block_.cols) * size_of(block_.dtype);
  if (next_ + 1 < mine_.size()) backend_->copy(kept_[next_].reserve(bytes), block_.data, bytes);
  backend_->copy(records + next_, record_, sizeof(StepRecord));
  ++next_;
  clear_sums(backend_, record_);
}

Matrix RankSum::part(size_t number) const {
  Matrix sum = block_;
  if (number + 1 < mine_.size()) sum.data = kept_[number].data();
  return sum;
}

void RankSum::finish() {
  TX_ASSERT(next_ == mine_.size());
  size_t place = beside_ ? beside_->stop() : 0;
  TX_ASSERT(!beside_ || order_->held());
  for (; place < size_t(division_.rounds()); ++place) finish_round(backend_, round_at(place));
  beside_.reset();
  waiting_.clear();
  finish_record();
}

int RankSum::round_at(size_t place) const { return order_ ? order_->rounds()[place] : int(place); }

// The thread has one thread of kernels, and those of the rounds that are left have all.
void RankSum::begin_last(std::vector<Matrix> waiting) {
  TX_ASSERT(order_ && next_ + 1 == mine_.size());
  waiting_ = std::move(waiting);
  const size_t each = size_of(block_.dtype), round = size_t(division_.round(0).count);
  in_.reserve(all_.size() * size_t(division_.longest(0)) * each);
  if (mine_.size() > 1) out_.reserve(mine_.size() * round * each);
  if (!backend_beside_) backend_beside_ = std::make_unique<Backend>(make_backend("cpu", 1));
  final_ = 0;
  beside_ = std::make_unique<SideThread>();
  beside_->start([this](size_t place) { finish_round(*backend_beside_, round_at(place)); });
}

void RankSum::saw_closure() {
  const size_t final = order_->final(final_);
  if (final > final_) beside_->allow(final);
  final_ = final;
}

void RankSum::finish_record() {
  const size_t max = *std::max_element(counts_.begin(), counts_.end());
  auto* records = reinterpret_cast<StepRecord*>(records_.data());
  mover_.gather_all(records + size_t(self_.rank) * max, max * sizeof(StepRecord), records);
  std::vector<StepRecord*> parts;
  for (size_t r = 0; r < counts_.size(); ++r)
    for (size_t i = 0; i < counts_[r]; ++i) parts.push_back(records + r * max + i);
  size_t next = 0;
  add_parts({0, terms_}, all_, next,
            [&](size_t to, size_t from) { backend_->add_sums(parts[from], parts[to]); });
  clear_sums(backend_, record_);
  backend_->add_sums(parts[0], record_);
}

// What this rank has of a round, for each rank in turn: of one partial sum it lies there in order.
const void* RankSum::to_send(Backend& backend, int round) {
  const size_t each = size_of(block_.dtype);
  const ElementRange all = division_.round(round);
  if (mine_.size() <= 1) return block_.columns(all.first, all.count).data;
  char* const out = out_.reserve(mine_.size() * size_t(all.count) * each);
  char* to = out;
  for (int r = 0; r < self_.ranks; ++r) {
    const ElementRange shard = division_.shard(round, r);
    for (size_t i = 0; i < mine_.size(); ++i, to += size_t(shard.count) * each)
      backend->copy(to, part(i).columns(shard.first, shard.count).data, size_t(shard.count) * each);
  }
  return out;
}

// Every rank gets the partial sums of its shard and adds them.
void RankSum::finish_round(Backend& backend, int round) {
  const size_t each = size_of(block_.dtype);
  const ElementRange whole = division_.round(round);
  const auto rows = [&](Matrix block) { return rows_of(block.columns(whole.first, whole.count)); };
  for (const Matrix& sum : waiting_) backend->add(rows(sum), rows(block_));
  const ElementRange own = division_.shard(round, self_.rank);
  std::vector<size_t> out_bytes, in_bytes;
  for (int r = 0; r < self_.ranks; ++r) {
    out_bytes.push_back(mine_.size() * size_t(division_.shard(round, r).count) * each);
    in_bytes.push_back(counts_[size_t(r)] * size_t(own.count) * each);
  }
  char* in = in_.reserve(all_.size() * size_t(own.count) * each);
  mover_.exchange(to_send(backend, round), out_bytes, in, in_bytes);
  if (own.count == 0) return;
  const auto sum = [&](size_t i) {
    return rows_of(matrix(in + i * size_t(own.count) * each, block_.dtype, 1, own.count));
  };
  size_t next = 0;
  add_parts({0, terms_}, all_, next,
            [&](size_t left, size_t right) { backend->add(sum(right), sum(left)); });
  backend->copy(block_.columns(own.first, own.count).data, in, size_t(own.count) * each);
}

}  // namespace tx
