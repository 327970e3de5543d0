#include "lib/search/scorer.h"

#include <algorithm>
#include <cstring>

#include "lib/base/error.h"

namespace tx {

Scorer::Scorer(Backend& backend, std::span<const Transformer* const> models, DType dtype, int top,
               bool looks_again)
    : backend_(backend),
      vocabulary_(models.front()->config().target().vocabulary),
      top_(top),
      looks_again_(looks_again) {
  top_ = int(std::min<int64_t>(top, vocabulary_));
  for (const Transformer* model : models) {
    TX_ASSERT(model->config().target().vocabulary == vocabulary_);
    decoders_.push_back(std::make_unique<IncrementalDecoder>(backend, *model, dtype));
  }
}

Scorer::~Scorer() {
  on(backend_, [&](auto& k) {
    for (void* data : {sum_, log_p_, top_best_, looked_at_}) k.release(data);
  });
}

void Scorer::reserve(int64_t rows) {
  if (rows <= rows_) return;
  on(backend_, [&](auto& k) {
    const auto make = [&](void*& data, int64_t width) {
      k.release(data);
      data = nullptr;
      if (width) data = k.allocate(size_t(rows * width) * 4);
    };
    make(sum_, top_ == 0 || ensemble() ? vocabulary_ : 0);
    make(log_p_, ensemble() ? vocabulary_ : 0);
    make(top_best_, 2 * top_);
    if (looks_again_ && !looked_at_) looked_at_ = k.allocate(size_t(looks * vocabulary_) * 4);
  });
  rows_ = rows;
}

// Whole rows: their sum, one model's, the host's copy. Candidates: value and id on the device, the
// host's copy, another in the result, and the room in which a long list is sorted.
size_t Scorer::bytes(const IncrementalDecoder::Capacity& capacity) {
  size_t sum = 0;
  for (auto& decoder : decoders_) sum += decoder->bytes(capacity);
  const int64_t whole = (top_ == 0 || ensemble()) + ensemble() + (top_ == 0);
  return sum + held_bytes(size_t(capacity.rows * whole * vocabulary_) * 4) +
         held_bytes(size_t(capacity.rows * 8 * top_) * 4) +
         held_bytes(looks_again_ ? size_t(2 * looks * vocabulary_) * 4 : 0);
}

void Scorer::open(const IncrementalDecoder::Capacity& capacity) {
  for (auto& decoder : decoders_) decoder->open(capacity);
  reserve(capacity.rows);
}

// All models have the same room: either every one has enough, or none has.
bool Scorer::admit(const IncrementalDecoder::Sources& sources, std::span<const int64_t> longest,
                   int width) {
  for (auto& decoder : decoders_)
    if (!decoder->admit(sources, longest, width)) {
      TX_ASSERT(&decoder == &decoders_.front());
      return false;
    }
  return true;
}

void Scorer::release(int32_t sentence) {
  for (auto& decoder : decoders_) decoder->release(sentence);
}

// The sum of the models' log-probabilities (R,V).
Matrix Scorer::average(std::span<const IncrementalDecoder::Row> rows) {
  const Matrix sum = matrix(sum_, DType::f32, int64_t(rows.size()), vocabulary_);
  for (size_t i = 0; i < decoders_.size(); ++i) {
    const Matrix logits = decoders_[i]->step(rows);
    const Matrix one = i ? matrix(log_p_, DType::f32, sum.rows, sum.cols) : sum;
    on(backend_, [&](auto& k) {
      k.log_softmax(logits, vocabulary_, one);
      if (i) k.add(one, sum);
    });
  }
  return sum;
}

Scores Scorer::step(std::span<const IncrementalDecoder::Row> rows) {
  const size_t width = size_t(top_ ? top_ : vocabulary_), count = rows.size() * width;
  values_.resize(count);
  const bool single = !ensemble() && top_;
  const Matrix x = last_ = single ? decoders_[0]->step(rows) : average(rows);
  on(backend_, [&](auto& k) {
    if (top_ == 0) return k.download(values_.data(), sum_, count * 4);
    float* values = static_cast<float*>(top_best_);
    int32_t* ids = static_cast<int32_t*>(top_best_) + count;
    if (single)
      k.log_softmax_topk(x, vocabulary_, top_, values, ids);
    else
      k.topk(x, vocabulary_, top_, values, ids);
    best_.resize(2 * count);
    k.download(best_.data(), top_best_, best_.size() * 4);  // one wait for both
    std::memcpy(values_.data(), best_.data(), count * 4);
  });
  if (ensemble()) {
    const float share = 1.0f / float(decoders_.size());
    for (float& value : values_) value *= share;
  }
  return {values_.data(), top_ ? best_.data() + count : nullptr, int64_t(width)};
}

std::span<const float> Scorer::look_again(std::span<const int32_t> rows) {
  TX_ASSERT(looks_again_ && !rows.empty() && int64_t(rows.size()) <= looks);
  const Matrix out = matrix(looked_at_, DType::f32, int64_t(rows.size()), vocabulary_);
  whole_.resize(rows.size() * size_t(vocabulary_));
  on(backend_, [&](auto& k) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const Matrix from = last_.slice(rows[i], 1), to = out.slice(int64_t(i), 1);
      if (ensemble())
        k.copy(to.data, from.data, size_t(vocabulary_) * 4);
      else
        k.log_softmax(from, vocabulary_, to);
    }
    k.download(whole_.data(), looked_at_, whole_.size() * 4);
  });
  if (ensemble()) {
    for (float& value : whole_) value *= 1.0f / float(decoders_.size());
  }
  return whole_;
}

}  // namespace tx
