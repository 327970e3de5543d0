#include "lib/search/engine/scorer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "lib/base/error.h"
#include "lib/subword/vocabulary.h"

namespace tx {

void TokenLists::add(Lists lists) {
  for (std::vector<int32_t>& ids : lists) {
    TX_ASSERT(!ids.empty());
    lists_.push_back({std::move(ids), 0});
  }
  std::fill(place_.begin(), place_.end(), -1);
  for (const List& list : lists_)
    for (const int32_t id : list.ids) place_[size_t(id)] = 0;
  all_.clear();
  for (size_t id = 0; id < place_.size(); ++id) {
    if (place_[id] < 0) continue;
    place_[id] = int32_t(all_.size());
    all_.push_back(int32_t(id));
  }
  std::vector<int32_t> columns;
  for (List& list : lists_) {
    list.first = columns.size();
    for (const int32_t id : list.ids) columns.push_back(place_[size_t(id)]);
  }
  const int32_t* const before = columns_.data();
  if (columns_.set<int32_t>(columns) != before) forget_graphs(backend_);
}

TokenLists::View TokenLists::of(int32_t sentence) const {
  const List& list = lists_.at(size_t(sentence));
  TX_ASSERT(!list.ids.empty());
  return {list.ids, columns_.data() + list.first};
}

Scorer::Scorer(Backend& backend, std::span<const Transformer* const> models, DType dtype, int top,
               bool looks_again)
    : backend_(backend),
      vocabulary_(models.front()->config().target().vocabulary),
      top_(top),
      looks_again_(looks_again),
      sent_(backend),
      row_lists_(backend) {
  top_ = int(std::min<int64_t>(top, vocabulary_));
  for (const Transformer* model : models) {
    TX_ASSERT(model->config().target().vocabulary == vocabulary_);
    const size_t i = decoders_.size();
    decoders_.push_back(std::make_unique<IncrementalDecoder>(backend, *model, dtype));
    decoders_.back()->end_steps_with([this, i](const Matrix& logits) { end_step(i, logits); });
  }
}

Scorer::~Scorer() {
  for (void* data : {sum_, log_p_, top_best_, looked_at_, own_}) backend_->release(data);
}

void Scorer::reserve(int64_t rows) {
  if (rows <= rows_) return;
  forget_graphs(backend_);  // recorded steps use the old addresses
  const auto make = [&](void*& data, int64_t width) {
    backend_->release(data);
    data = nullptr;
    if (width) data = backend_->allocate(size_t(rows * width) * 4);
  };
  make(sum_, top_ == 0 || ensemble() ? vocabulary_ : 0);
  make(log_p_, ensemble() ? vocabulary_ : 0);
  make(top_best_, 2 * top_);
  sent_.reserve(size_t(2 * rows * top_));
  if (lists_) row_lists_.reserve(size_t(2 * rows));
  make(own_, lists_ ? vocabulary_ : 0);
  if (looks_again_ && !looked_at_) looked_at_ = backend_->allocate(size_t(looks * vocabulary_) * 4);
  rows_ = rows;
}

// Buffers of whole rows: the sum over models, the row of one model, the host's copy. Buffers of
// candidates: values and ids on the device, the host's copy, the result's, a sorting buffer.
size_t Scorer::bytes(const IncrementalDecoder::Capacity& capacity) {
  size_t sum = 0;
  for (auto& decoder : decoders_) sum += decoder->bytes(capacity);
  const int64_t whole = (top_ == 0 || ensemble()) + ensemble() + (top_ == 0);
  const int64_t rows = decoders_.front()->rounded(capacity.rows);
  return sum + held_bytes(size_t(rows * whole * vocabulary_) * 4) +
         held_bytes(size_t(rows * 8 * top_) * 4) +
         held_bytes(looks_again_ ? size_t(2 * looks * vocabulary_) * 4 : 0) +
         (lists_ ? held_bytes(size_t(rows * vocabulary_) * 4) : 0);
}

void Scorer::open(const IncrementalDecoder::Capacity& capacity) {
  for (auto& decoder : decoders_) decoder->open(capacity);
  reserve(decoders_.front()->rounded(capacity.rows));
  if (lists_) lists_->clear();
}

// All models have the same capacity, so the sources fit into all of them or none.
bool Scorer::admit(const IncrementalDecoder::Sources& sources, std::span<const int64_t> longest,
                   int width, TokenLists::Lists lists) {
  TX_ASSERT(lists.size() == (lists_ ? sources.size() : 0));
  for (auto& decoder : decoders_)
    if (!decoder->admit(sources, longest, width)) {
      TX_ASSERT(&decoder == &decoders_.front());
      return false;
    }
  if (lists_) {
    lists_->add(std::move(lists));
    for (auto& decoder : decoders_) decoder->pick(lists_->all());
  }
  return true;
}

void Scorer::release(int32_t sentence) {
  for (auto& decoder : decoders_) decoder->release(sentence);
  if (lists_) lists_->release(sentence);
}

void Scorer::find_parts(std::span<const IncrementalDecoder::Row> rows) {
  if (!lists_) {
    parts_.assign(1, {0, int64_t(rows.size()), vocabulary_, {}});
    return;
  }
  parts_.clear();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i].sentence != rows[i - 1].sentence) {
      const TokenLists::View list = lists_->of(rows[i].sentence);
      parts_.push_back({int64_t(i), 0, list.size(), list});
    }
    ++parts_.back().rows;
  }
}

// The logits of the part's rows, restricted to the columns of its list.
Matrix Scorer::own_columns(Matrix logits, const Part& part) {
  const Matrix rows = logits.slice(part.first, part.rows);
  if (!lists_) return rows;
  const Matrix own = matrix(own_, logits.dtype, part.rows, part.width);
  backend_->gather_columns(rows, part.list.columns, own);
  return own;
}

// What model i adds to the scores of the part's rows, and after the last model their candidates.
void Scorer::score(size_t model, const Matrix& logits, const Part& part) {
  const Matrix own = own_columns(logits, part);
  const Matrix all = matrix(sum_, DType::f32, rows_, vocabulary_);
  const Matrix sum = all.slice(part.first, part.rows).columns(0, part.width);
  if (model > 0) {
    const Matrix one = matrix(log_p_, DType::f32, part.rows, part.width);
    backend_->log_softmax(own, part.width, one);
    backend_->add(one, sum);
  } else if (!single()) {
    backend_->log_softmax(own, part.width, sum);
  }
  if (top_ == 0 || model + 1 < decoders_.size()) return;
  const int kept = int(std::min<int64_t>(top_, part.width));
  float* values = static_cast<float*>(top_best_) + part.first * top_;
  int32_t* ids = static_cast<int32_t*>(top_best_) + (padded_rows_ + part.first) * top_;
  if (single())
    backend_->log_softmax_topk(own, part.width, kept, values, ids);
  else
    backend_->topk(sum, part.width, kept, values, ids);
}

// Scatters the values of a list over the vocabulary; `row` has vocabulary_ elements.
void Scorer::spread(const Part& part, float* row) {
  if (!lists_) return;
  narrow_.assign(row, row + part.width);
  std::fill_n(row, vocabulary_, -std::numeric_limits<float>::infinity());
  for (size_t j = 0; j < narrow_.size(); ++j) row[part.list.ids[j]] = narrow_[j];
}

// The same for candidates: indices in the list become ids; -1 fills up a shorter list.
void Scorer::spread_best(const Part& part) {
  if (!lists_) return;
  const int64_t kept = single() ? top_ : std::min<int64_t>(top_, part.width);
  const size_t first = size_t(part.first * top_);
  float* values = values_.data() + first;
  int32_t* best = ids().data() + first;
  for (int64_t i = part.rows; i-- > 0;)
    for (int64_t j = top_; j-- > 0;) {
      const int64_t to = i * top_ + j, from = i * kept + j;
      values[to] = j < kept ? values[from] : -std::numeric_limits<float>::infinity();
      best[to] = j < kept ? part.list.ids[size_t(best[from])] : -1;
    }
}

// The part of a step that is recorded with model i.
void Scorer::end_step(size_t model, const Matrix& logits) {
  if (scores_parts()) return;
  if (lists_) {
    const int32_t* const first = row_lists_.data<int32_t>();
    float* const values = static_cast<float*>(top_best_);
    backend_->log_softmax_topk_of_lists(logits, {lists_->columns(), first, first + padded_rows_},
                                        top_, values,
                                        static_cast<int32_t*>(top_best_) + padded_rows_ * top_);
  } else {
    score(model, logits, {0, logits.rows, vocabulary_, {}});
  }
  if (model + 1 == decoders_.size()) send_best();
}

// The list of each row; padding has none.
void Scorer::list_rows() {
  if (!lists_ || scores_parts()) return;
  int32_t* const first = row_lists_.data<int32_t>();
  std::fill_n(first, 2 * padded_rows_, 0);
  for (const Part& part : parts_) {
    std::fill_n(first + part.first, part.rows, int32_t(part.list.columns - lists_->columns()));
    std::fill_n(first + padded_rows_ + part.first, part.rows, int32_t(part.width));
  }
}

// Candidates of all rows in one copy: values, then ids.
void Scorer::send_best() {
  if (top_)
    backend_->copy_shared(sent_.data<float>(), top_best_, size_t(2 * padded_rows_ * top_) * 4);
}

Scores Scorer::step(std::span<const IncrementalDecoder::Row> rows) {
  const size_t width = size_t(top_ ? top_ : vocabulary_), count = rows.size() * width;
  find_parts(rows);
  padded_rows_ = decoders_.front()->rounded(int64_t(rows.size()));
  list_rows();
  for (size_t i = 0; i < decoders_.size(); ++i) {
    last_ = decoders_[i]->step(rows);
    for (const Part& part : parts_)
      if (scores_parts()) score(i, last_, part);
  }
  if (!single()) last_ = matrix(sum_, DType::f32, int64_t(rows.size()), vocabulary_);
  if (top_ == 0) {
    every_.resize(count);
    backend_->download(every_.data(), sum_, count * 4);
    values_ = every_;
  } else {
    if (scores_parts()) send_best();
    backend_->wait();
    values_ = {sent_.data<float>(), count};
    best_ = {sent_.data<int32_t>() + padded_rows_ * top_, count};
  }
  for (auto& decoder : decoders_) decoder->step_is_done();
  if (ensemble()) {
    const float share = 1.0f / float(decoders_.size());
    for (float& value : values_) value *= share;
  }
  for (const Part& part : parts_) {
    for (int64_t i = 0; top_ == 0 && i < part.rows; ++i)
      spread(part, values_.data() + (part.first + i) * vocabulary_);
    if (top_) spread_best(part);
  }
  if (!ends_.empty()) join_ends();
  return {values_.data(), top_ ? best_.data() : nullptr, int64_t(width)};
}

void Scorer::join_ends() {
  const float none = -std::numeric_limits<float>::infinity();
  const auto ends = [&](int32_t id) {
    return id == Vocabulary::eos || std::ranges::count(ends_, id) > 0;
  };
  for (size_t first = 0; top_ && first < values_.size(); first += size_t(top_)) {
    bool found = false;
    for (int32_t& id : ids().subspan(first, size_t(top_)))
      if (ends(id)) id = std::exchange(found, true) ? -1 : int32_t(Vocabulary::eos);
  }
  for (size_t first = 0; !top_ && first < values_.size(); first += size_t(vocabulary_)) {
    float& eos = values_[first + Vocabulary::eos];
    for (const int id : ends_) {
      const float other = std::exchange(values_[first + size_t(id)], none);
      const float max = std::max(eos, other);
      if (max > none) eos = max + std::log(std::exp(eos - max) + std::exp(other - max));
    }
  }
}

const Scorer::Part& Scorer::part_of(int64_t row) const {
  const auto behind = std::upper_bound(parts_.begin(), parts_.end(), row,
                                       [](int64_t r, const Part& p) { return r < p.first; });
  return *std::prev(behind);
}

std::span<const float> Scorer::look_again(std::span<const int32_t> rows) {
  TX_ASSERT(looks_again_ && !rows.empty() && int64_t(rows.size()) <= looks);
  const Matrix out = matrix(looked_at_, DType::f32, int64_t(rows.size()), vocabulary_);
  whole_.resize(rows.size() * size_t(vocabulary_));
  for (size_t i = 0; i < rows.size(); ++i) {
    Part one = part_of(rows[i]);
    one.first = rows[i], one.rows = 1;
    const Matrix from = last_.slice(rows[i], 1), to = out.slice(int64_t(i), 1);
    if (ensemble())
      backend_->copy(to.data, from.data, size_t(vocabulary_) * 4);
    else
      backend_->log_softmax(own_columns(last_, one), one.width, to.columns(0, one.width));
  }
  backend_->download(whole_.data(), looked_at_, whole_.size() * 4);
  if (ensemble())
    for (float& value : whole_) value *= 1.0f / float(decoders_.size());
  for (size_t i = 0; i < rows.size(); ++i)
    spread(part_of(rows[i]), whole_.data() + int64_t(i) * vocabulary_);
  for (size_t first = 0; first < whole_.size(); first += size_t(vocabulary_))
    for (const int id : ends_) {
      float &eos = whole_[first + Vocabulary::eos], &other = whole_[first + size_t(id)];
      eos = std::max(eos, std::exchange(other, -std::numeric_limits<float>::infinity()));
    }
  return whole_;
}

}  // namespace tx
