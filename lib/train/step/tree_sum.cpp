#include "lib/train/step/tree_sum.h"

#include <bit>
#include <cstddef>

#include "lib/base/error.h"
#include "lib/model/division.h"

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

// As a binary counter counts: two sums of 2^i terms become one of twice as many. Behind the last
// term those that are left are added from the smallest on.
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

}  // namespace tx
