#include "lib/model/decoding.h"

#include <cmath>

namespace tx {

Decoding::Decoding(Backend& backend, const Transformer& transformer, DType dtype)
    : backend_(backend),
      transformer_(transformer),
      dtype_(dtype),
      ids_(backend),
      offsets_(backend),
      pairs_(backend),
      positions_(backend),
      step_ids_(backend),
      step_positions_(backend),
      step_index_(backend),
      lengths_(backend),
      first_(backend),
      source_lengths_(backend) {
  const ModelConfig& c = transformer.config();
  row_width_ = int64_t(c.heads) * (2 * c.d_k + c.d_v);
  self_.heads = cross_.heads = c.heads;
  self_.d_k = cross_.d_k = c.d_k;
  self_.d_v = cross_.d_v = c.d_v;
  self_.scale = cross_.scale = 1 / std::sqrt(double(c.d_k));
}

Decoding::~Decoding() {
  memory_ = logits_ = Tensor();  // before the arena they live in
  on(backend_, [&](auto& k) { k.release(cache_.data); });
}

PackedSide Decoding::pack(const std::vector<std::vector<int>>& sources) {
  std::vector<int32_t> ids, offsets{0};
  std::vector<uint32_t> pair, position;
  source_first_.clear();
  source_rows_.clear();
  for (size_t s = 0; s < sources.size(); ++s) {
    TX_ASSERT(!sources[s].empty() && int64_t(sources[s].size()) <= transformer_.longest());
    source_first_.push_back(offsets.back());
    source_rows_.push_back(int32_t(sources[s].size()));
    for (size_t i = 0; i < sources[s].size(); ++i) {
      ids.push_back(sources[s][i]);
      pair.push_back(uint32_t(s));
      position.push_back(uint32_t(i));
    }
    offsets.push_back(int32_t(ids.size()));
  }
  PackedSide side;
  side.ids = ids_.set<int32_t>(ids);
  side.offsets = offsets_.set<int32_t>(offsets);
  side.keys = {pairs_.set<uint32_t>(pair), positions_.set<uint32_t>(position)};
  side.rows = int64_t(ids.size());
  side.sentences = int64_t(sources.size());
  return side;
}

// Sizes the arena by running encoder and one step on a counting arena.
void Decoding::plan(int64_t source_rows, int64_t max_rows, int64_t max_steps) {
  Arena counting;
  {
    Context context(backend_, counting, dtype_);
    source_.rows = source_rows;
    memory_ = transformer_.memory(context, transformer_.encode(context, source_, {}));
    logits_ = run(context, max_rows);
    memory_ = logits_ = Tensor();
  }
  if (!arena_ || counting.peak() > arena_bytes_) {
    arena_.reset();
    arena_bytes_ = counting.peak() + counting.peak() / 4;
    arena_ = std::make_unique<Arena>(backend_, arena_bytes_);
  }
  const int64_t rows = int64_t(transformer_.decoder_layers().size()) * max_steps * max_rows;
  const size_t bytes = size_t(rows) * size_t(row_width_) * size_of(dtype_);
  if (bytes > cache_bytes_) {
    on(backend_, [&](auto& k) {
      k.release(cache_.data);
      cache_.data = nullptr;
      cache_.data = k.allocate(bytes);
    });
    cache_bytes_ = bytes;
  }
  cache_ = matrix(cache_.data, dtype_, rows, row_width_);
}

void Decoding::begin(const std::vector<std::vector<int>>& sources, int64_t max_rows,
                     int64_t max_steps) {
  TX_ASSERT(max_steps <= transformer_.longest());
  memory_ = logits_ = Tensor();
  max_rows_ = max_rows;
  max_steps_ = max_steps;
  step_ = 0;
  source_ = pack(sources);
  plan(source_.rows, max_rows, max_steps);
  Context context(backend_, *arena_, dtype_);
  memory_ = transformer_.memory(context, transformer_.encode(context, source_, {}));
}

// Uploads the step's rows and extends each hypothesis' list of cache rows by its own.
void Decoding::follow(std::span<const Row> rows) {
  const size_t stride = size_t(step_) + 1;
  std::vector<int32_t> ids, first, source_lengths, lengths(rows.size(), int32_t(stride));
  std::vector<uint32_t> positions(rows.size(), uint32_t(step_));
  next_index_.resize(rows.size() * stride);
  for (size_t r = 0; r < rows.size(); ++r) {
    TX_ASSERT(size_t(rows[r].sentence) < source_first_.size());
    TX_ASSERT(step_ == 0 || size_t(rows[r].parent) < index_.size() / size_t(step_));
    ids.push_back(rows[r].token);
    first.push_back(source_first_[size_t(rows[r].sentence)]);
    source_lengths.push_back(source_rows_[size_t(rows[r].sentence)]);
    int32_t* to = next_index_.data() + r * stride;
    if (step_ > 0) {
      const int32_t* from = index_.data() + size_t(rows[r].parent) * (stride - 1);
      std::copy(from, from + stride - 1, to);
    }
    to[stride - 1] = int32_t(step_ * max_rows_ + int64_t(r));
  }
  index_.swap(next_index_);
  target_.ids = step_ids_.set<int32_t>(ids);
  target_.keys.position = step_positions_.set<uint32_t>(positions);
  target_.rows = int64_t(rows.size());
  self_.index = step_index_.set<int32_t>(index_);
  self_.index_stride = int64_t(stride);
  self_.lengths = lengths_.set<int32_t>(lengths);
  cross_.first = first_.set<int32_t>(first);
  cross_.lengths = source_lengths_.set<int32_t>(source_lengths);
}

Matrix Decoding::step(std::span<const Row> rows) {
  TX_ASSERT(arena_ && step_ < max_steps_ && int64_t(rows.size()) <= max_rows_ && !rows.empty());
  logits_ = Tensor();
  follow(rows);
  Context context(backend_, *arena_, dtype_);
  logits_ = run(context, int64_t(rows.size()));
  ++step_;
  return logits_.value();
}

Tensor Decoding::run(Context& context, int64_t rows) {
  target_.rows = rows;
  Tensor x = embed(context, transformer_.embedding(true, target_, {}));
  return transformer_.logits(context, sublayers(context, x, rows));
}

Tensor Decoding::sublayers(Context& context, Tensor x, int64_t rows) {
  const bool pre = transformer_.config().pre_norm();
  Tensor residual = x;
  if (pre) x = layer_norm(context, x, transformer_.first_norm(true));
  const auto end = [&](Tensor sub, size_t index) {
    const Normed out = add_norm(context, residual, sub, {}, transformer_.norm_after(true, index));
    residual = pre ? out.sum : out.normed;
    x = out.normed;
  };
  for (size_t i = 0; i < transformer_.decoder_layers().size(); ++i) {
    const Transformer::Layer& w = transformer_.decoder_layers()[i];
    end(linear(context, attend_cache(context, i, x, rows), w.self.out, w.self.out_bias), 3 * i);
    end(linear(context, attend_memory(context, i, x, rows), w.cross.out, w.cross.out_bias),
        3 * i + 1);
    Tensor inner = linear_activation(context, x, w.ffn.in, w.ffn.in_bias,
                                     transformer_.config().activation_kind(), {});
    end(linear(context, inner, w.ffn.out, w.ffn.out_bias), 3 * i + 2);
  }
  return x;
}

// The product of q, k and v is written where the cache wants it; nothing is copied.
Tensor Decoding::attend_cache(Context& context, size_t layer, Tensor x, int64_t rows) {
  const Transformer::AttentionWeights& w = transformer_.decoder_layers()[layer].self;
  const int64_t keys = int64_t(self_.heads) * self_.d_k, values = int64_t(self_.heads) * self_.d_v;
  Tensor out = context.make(rows, values);
  context.run([&](auto& k) {
    const Matrix cache =
        cache_.slice(int64_t(layer) * max_steps_ * max_rows_, max_steps_ * max_rows_);
    const Matrix now = cache.slice(step_ * max_rows_, rows);
    k.product_rows(x.value(), w.in.value, w.in_bias.value, Activation::none, now);
    CachedAttention p = self_;
    p.q = now.columns(0, keys);
    p.k = cache.columns(keys, keys);
    p.v = cache.columns(2 * keys, values);
    p.o = out.value();
    k.attention_cached(p);
  });
  return out;
}

Tensor Decoding::attend_memory(Context& context, size_t layer, Tensor x, int64_t rows) {
  const Transformer::AttentionWeights& w = transformer_.decoder_layers()[layer].cross;
  const int64_t keys = int64_t(cross_.heads) * cross_.d_k;
  const int64_t values = int64_t(cross_.heads) * cross_.d_v;
  Tensor q = linear(context, x, w.in, w.in_bias);
  Tensor out = context.make(rows, values);
  context.run([&](auto& k) {
    CachedAttention p = cross_;
    p.q = q.value();
    p.k = memory_.value().columns(int64_t(layer) * (keys + values), keys);
    p.v = memory_.value().columns(int64_t(layer) * (keys + values) + keys, values);
    p.o = out.value();
    k.attention_cached(p);
  });
  return out;
}

}  // namespace tx
