#include "lib/model/decoding.h"

#include <algorithm>
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
      source_lengths_(backend),
      slots_(backend) {
  replays_ = on(backend, [](auto& k) {
    return requires { k.forget_graphs(); };
  });
  const ModelConfig& c = transformer.config();
  row_width_ = int64_t(c.heads) * (2 * c.d_k + c.d_v);
  self_.heads = cross_.heads = c.heads;
  self_.d_k = cross_.d_k = c.d_k;
  self_.d_v = cross_.d_v = c.d_v;
  self_.scale = cross_.scale = 1 / std::sqrt(double(c.d_k));
}

Decoding::~Decoding() {
  memory_ = logits_ = Tensor();  // before the arena they live in
  forget();
  on(backend_, [&](auto& k) {
    k.release(cache_.data);
    if (replays_) k.release(keys_.data);
  });
}

// What was recorded holds the places of what has moved.
void Decoding::forget() {
  on(backend_, [](auto& k) {
    if constexpr (requires { k.forget_graphs(); }) k.forget_graphs();
  });
}

int64_t Decoding::rounded(int64_t rows) const {
  if (!replays_) return rows;
  const int64_t to = rows <= 64 ? 8 : rows <= 256 ? 32 : rows <= 1024 ? 128 : 512;
  return (rows + to - 1) / to * to;
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
    if (replays_) memory_ = Tensor();
    logits_ = run(context, rounded(max_rows));
    memory_ = logits_ = Tensor();
  }
  bool moved = false;
  if (!arena_ || counting.peak() > arena_bytes_) {
    arena_.reset();
    arena_bytes_ = counting.peak() + counting.peak() / 4;
    arena_ = std::make_unique<Arena>(backend_, arena_bytes_);
    moved = true;
  }
  if (reserve_cache(max_steps)) moved = true;
  if (replays_ && reserve_steps(max_steps)) moved = true;
  if (moved) forget();
}

bool Decoding::reserve_cache(int64_t max_steps) {
  const int64_t layers = int64_t(transformer_.decoder_layers().size());
  const int64_t needed = max_steps * rounded(max_rows_);
  layer_rows_ = replays_ ? std::max(layer_rows_, needed) : needed;
  const size_t bytes = size_t(layers * layer_rows_) * size_t(row_width_) * size_of(dtype_);
  const bool moved = bytes > cache_bytes_;
  if (moved) {
    on(backend_, [&](auto& k) {
      k.release(cache_.data);
      cache_.data = nullptr;
      cache_.data = k.allocate(bytes);
    });
    cache_bytes_ = bytes;
  }
  cache_ = matrix(cache_.data, dtype_, layers * layer_rows_, row_width_);
  return moved;
}

// Room for what is uploaded for a step.
bool Decoding::reserve_steps(int64_t max_steps) {
  const size_t rows = size_t(rounded(max_rows_));
  bool moved = max_steps > stride_;
  stride_ = std::max(stride_, max_steps);
  for (Ints* array : {&step_ids_, &step_positions_, &lengths_, &first_, &source_lengths_, &slots_})
    if (array->reserve(rows)) moved = true;
  if (step_index_.reserve(rows * size_t(stride_))) moved = true;
  return moved;
}

// Copies the keys and values of the sources to where recorded steps look for them.
void Decoding::keep_memory() {
  const Matrix value = memory_.value();
  const size_t bytes = size_t(value.rows * value.cols) * size_of(dtype_);
  if (bytes > keys_bytes_) {
    on(backend_, [&](auto& k) {
      k.release(keys_.data);
      keys_.data = nullptr;
      keys_.data = k.allocate(bytes + bytes / 4);
    });
    keys_bytes_ = bytes + bytes / 4;
    forget();
  }
  keys_ = matrix(keys_.data, dtype_, value.rows, value.cols);
  on(backend_, [&](auto& k) { k.convert(value, keys_); });
  memory_ = Tensor();
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
  if (replays_)
    keep_memory();
  else
    keys_ = memory_.value();
}

// Uploads the step's rows and extends each hypothesis' list of cache rows by its own. Rows that
// only fill up a number read one cached row, their own.
void Decoding::follow(std::span<const Row> rows) {
  const size_t count = size_t(rounded(int64_t(rows.size()))), length = size_t(step_) + 1;
  const size_t stride = replays_ ? size_t(stride_) : length;
  const size_t before = replays_ ? stride : length - 1;
  std::vector<int32_t> ids(count, 0), first(count, source_first_[0]), slots(count);
  std::vector<int32_t> source_lengths(count, source_rows_[0]), lengths(count, 1);
  std::vector<uint32_t> positions(count, uint32_t(step_));
  next_index_.resize(count * stride);
  for (size_t r = 0; r < count; ++r) {
    slots[r] = int32_t(step_ * rounded(max_rows_) + int64_t(r));
    int32_t* to = next_index_.data() + r * stride;
    if (r >= rows.size()) {
      to[0] = slots[r];
      continue;
    }
    TX_ASSERT(size_t(rows[r].sentence) < source_first_.size());
    TX_ASSERT(step_ == 0 || size_t(rows[r].parent) < index_.size() / before);
    ids[r] = rows[r].token;
    first[r] = source_first_[size_t(rows[r].sentence)];
    source_lengths[r] = source_rows_[size_t(rows[r].sentence)];
    lengths[r] = int32_t(length);
    if (step_ > 0) std::copy_n(index_.data() + size_t(rows[r].parent) * before, length - 1, to);
    to[length - 1] = slots[r];
  }
  index_.swap(next_index_);
  target_.ids = step_ids_.set<int32_t>(ids);
  target_.keys.position = step_positions_.set<uint32_t>(positions);
  target_.rows = int64_t(count);
  self_.index = step_index_.set<int32_t>(index_);
  self_.index_stride = int64_t(stride);
  self_.lengths = lengths_.set<int32_t>(lengths);
  cross_.first = first_.set<int32_t>(first);
  cross_.lengths = source_lengths_.set<int32_t>(source_lengths);
  if (replays_) slot_ = slots_.set<int32_t>(slots);
}

Matrix Decoding::step(std::span<const Row> rows) {
  TX_ASSERT(arena_ && step_ < max_steps_ && int64_t(rows.size()) <= max_rows_ && !rows.empty());
  logits_ = Tensor();
  follow(rows);
  const auto pass = [&] {
    Context context(backend_, *arena_, dtype_);
    logits_ = run(context, target_.rows);
    places_[target_.rows] = logits_.value();
  };
  on(backend_, [&](auto& k) {
    if constexpr (requires { k.forget_graphs(); }) {
      const int64_t self = int64_t(reinterpret_cast<uintptr_t>(this) >> 4) << 20;
      k.replay(self | target_.rows, pass);
    } else {
      pass();
    }
  });
  ++step_;
  return places_.at(target_.rows).slice(0, int64_t(rows.size()));
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

// The product of q, k and v is written where the cache wants it; a replayed step, whose places are
// fixed, writes it to the next rows by a list.
Tensor Decoding::attend_cache(Context& context, size_t layer, Tensor x, int64_t rows) {
  const Transformer::AttentionWeights& w = transformer_.decoder_layers()[layer].self;
  const int64_t keys = int64_t(self_.heads) * self_.d_k, values = int64_t(self_.heads) * self_.d_v;
  Tensor out = context.make(rows, values), fresh;
  if (replays_) fresh = context.make(rows, row_width_);
  context.run([&](auto& k) {
    const Matrix cache = cache_.slice(int64_t(layer) * layer_rows_, layer_rows_);
    const Matrix now = replays_ ? fresh.value() : cache.slice(step_ * max_rows_, rows);
    k.product_rows(x.value(), w.in.value, w.in_bias.value, Activation::none, now);
    if (replays_) k.scatter_rows(now, slot_, cache);
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
    p.k = keys_.columns(int64_t(layer) * (keys + values), keys);
    p.v = keys_.columns(int64_t(layer) * (keys + values) + keys, values);
    p.o = out.value();
    k.attention_cached(p);
  });
  return out;
}

}  // namespace tx
