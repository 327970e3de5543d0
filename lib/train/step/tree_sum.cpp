#include "lib/train/step/tree_sum.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "lib/base/error.h"

namespace tx {

int left_part(int size) { return int(std::bit_floor(unsigned(size - 1))); }

void clear_sums(Backend& backend, StepRecord* record) {
  constexpr size_t first = offsetof(StepRecord, loss);
  backend->zero(reinterpret_cast<char*>(record) + first, sizeof(StepRecord) - first);
}

TreeSum::TreeSum(Backend& backend, Matrix block, StepRecord* record)
    : backend_(backend), block_(block), record_(record) {
  TX_ASSERT(block.rows == 1 && block.cols % 64 == 0);
}

TreeSum::~TreeSum() {
  for (const Level& level : levels_) {
    backend_->release(level.block.data);
    backend_->release(level.record);
  }
}

int TreeSum::levels(int terms) { return std::bit_width(unsigned(terms - 1)); }

void TreeSum::reserve(int terms) {
  const size_t bytes = size_t(block_.cols) * size_of(block_.dtype);
  while (int(levels_.size()) < levels(terms)) {
    Level level{block_, nullptr};
    level.block.data = backend_->allocate(bytes);
    backend_->zero(level.block.data, bytes);
    levels_.push_back(level);
    levels_.back().record = static_cast<StepRecord*>(backend_->allocate(sizeof(StepRecord)));
  }
}

Matrix TreeSum::spare() {
  reserve(2);
  return levels_.front().block;
}

void TreeSum::begin(int terms) {
  TX_ASSERT(terms > 0);
  reserve(terms);
  terms_ = terms;
  next_ = 0;
}

// Like a binary counter: two sums of 2^i terms become one of 2^(i+1). After the last term the
// remaining sums are added, smallest first.
void TreeSum::add_term() {
  TX_ASSERT(next_ < terms_);
  const auto term = unsigned(next_++);
  size_t level = 0;
  for (; term >> level & 1; ++level) add(level);
  if (next_ < terms_) return push(level);
  for (; term >> level; ++level)
    if (term >> level & 1) add(level);
}

std::vector<Matrix> TreeSum::waiting() const {
  TX_ASSERT(next_ + 1 == terms_);
  std::vector<Matrix> blocks;
  for (size_t level = 0; next_ >> level; ++level)
    if (next_ >> level & 1) blocks.push_back(levels_[level].block);
  return blocks;
}

void TreeSum::add_last_record() {
  TX_ASSERT(next_ + 1 == terms_);
  for (size_t level = 0; next_ >> level; ++level)
    if (next_ >> level & 1) backend_->add_sums(levels_[level].record, record_);
  ++next_;
}

void TreeSum::push(size_t level) {
  backend_->copy(levels_[level].block.data, block_.data,
                 size_t(block_.cols) * size_of(block_.dtype));
  backend_->copy(levels_[level].record, record_, sizeof(StepRecord));
  clear_sums(backend_, record_);
}

void TreeSum::add(size_t level) {
  backend_->add(rows_of(levels_[level].block), rows_of(block_));
  backend_->add_sums(levels_[level].record, record_);
}

namespace {

void collect(TermRange node, TermRange share, std::vector<TermRange>& found) {
  if (node.hi <= share.lo || share.hi <= node.lo) return;
  if (share.lo <= node.lo && node.hi <= share.hi) return found.push_back(node);
  const int middle = node.lo + left_part(node.size());
  collect({node.lo, middle}, share, found);
  collect({middle, node.hi}, share, found);
}

// Calls add(i, j) to add part j to part i. `parts`: subtrees that cover `node`; part 0 is its sum.
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

// Rank 0 has at least one: a save collects the optimizer state there and in the gradient block.
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

size_t RankSum::exchange_bytes(int terms, const Division& division, size_t each) {
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
  size_t place = background_ ? background_->stop() : 0;
  TX_ASSERT(!background_ || order_->held());
  for (; place < size_t(division_.rounds()); ++place) finish_round(backend_, round_at(place));
  background_.reset();
  waiting_.clear();
  finish_record();
}

// The background thread runs its kernels on one CPU thread; finish() runs the rest on all.
void RankSum::begin_last(std::vector<Matrix> waiting) {
  TX_ASSERT(order_ && next_ + 1 == mine_.size());
  waiting_ = std::move(waiting);
  const size_t each = size_of(block_.dtype), round = size_t(division_.round(0).count);
  in_.reserve(all_.size() * size_t(division_.longest(0)) * each);
  if (mine_.size() > 1) out_.reserve(mine_.size() * round * each);
  if (!background_backend_)
    background_backend_ = std::make_unique<Backend>(make_backend(Device::cpu, 1));
  final_ = 0;
  background_ = std::make_unique<BackgroundThread>();
  background_->start([this](size_t place) { finish_round(*background_backend_, round_at(place)); });
}

void RankSum::saw_closure() {
  const size_t final = order_->final(final_);
  if (final > final_) background_->allow(final);
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

// This rank's partial sums of a round, by receiving rank; a single one is in that order already.
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

// Each rank receives the partial sums of its shard and adds them.
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
