#include "lib/model/decoding.h"

#include <algorithm>
#include <cmath>

#include "lib/tensor/replay.h"

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
      step_slots_(backend) {
  replays_ = replays(backend);
  const ModelConfig& c = transformer.config();
  row_width_ = int64_t(c.heads) * (2 * c.d_k + c.d_v);
  self_.heads = cross_.heads = c.heads;
  self_.d_k = cross_.d_k = c.d_k;
  self_.d_v = cross_.d_v = c.d_v;
  self_.scale = cross_.scale = 1 / std::sqrt(double(c.d_k));
}

Decoding::~Decoding() {
  logits_ = Tensor();  // before the arena it lives in
  forget_graphs(backend_);
  on(backend_, [&](auto& k) {
    k.release(cache_.data);
    k.release(keys_.data);
  });
}

int64_t Decoding::rounded(int64_t rows) const {
  if (!replays_) return rows;
  const int64_t to = rows <= 64 ? 8 : rows <= 256 ? 32 : rows <= 1024 ? 128 : 512;
  return (rows + to - 1) / to * to;
}

// Arena bytes that encoding so many rows and a step of so many take, found on a counting arena.
size_t Decoding::plan(int64_t source_rows, int64_t rows) {
  Arena counting;
  Context context(backend_, counting, dtype_);
  source_.rows = source_rows;
  transformer_.memory(context, transformer_.encode(context, source_, {}));
  run(context, rounded(rows));
  return counting.peak();
}

// Makes `block` a matrix of these sizes; tells whether its memory moved.
bool Decoding::reserve(Matrix& block, size_t& held, int64_t rows, int64_t cols) {
  const size_t bytes = size_t(rows) * size_t(cols) * size_of(dtype_);
  const bool moves = bytes > held;
  if (moves) {
    on(backend_, [&](auto& k) {
      k.release(block.data);
      block.data = nullptr;  // allocate() may throw
      held = 0;
      block.data = k.allocate(bytes);
    });
    held = bytes;
  }
  block = matrix(block.data, dtype_, rows, cols);
  return moves;
}

// Room for what is uploaded for a step.
bool Decoding::reserve_steps(int64_t rows) {
  bool moved = false;
  for (Ints* array :
       {&step_ids_, &step_positions_, &lengths_, &first_, &source_lengths_, &step_slots_})
    if (array->reserve(size_t(rows))) moved = true;
  if (replays_ && step_index_.reserve(size_t(rows * room_.steps))) moved = true;
  return moved;
}

void Decoding::open(const Room& room) {
  TX_ASSERT(room.steps <= transformer_.longest() && room.rows > 0 && room.source_rows > 0);
  logits_ = Tensor();
  const int64_t layers = int64_t(transformer_.decoder_layers().size());
  Room needed = room;
  if (replays_) {  // what has been recorded stays good where nothing grows
    needed.source_rows = std::max(room.source_rows, room_.source_rows);
    needed.rows = std::max(room.rows, room_.rows);
    needed.cache_rows = std::max(room.cache_rows, room_.cache_rows);
    needed.steps = std::max(room.steps, room_.steps);
  }
  bool moved = needed.cache_rows != room_.cache_rows || needed.steps != room_.steps;
  room_ = needed;
  if (!replays_) places_.clear();
  // A row more, which rows that only fill up a number write to.
  if (reserve(cache_, cache_bytes_, layers * (room_.cache_rows + 1), row_width_)) moved = true;
  if (reserve(keys_, keys_bytes_, room_.source_rows, transformer_.memory_width())) moved = true;
  if (reserve_steps(rounded(room_.rows))) moved = true;
  const size_t bytes = plan(room_.source_rows, room_.rows);
  if (!arena_ || bytes > arena_bytes_) {
    arena_.reset();
    arena_bytes_ = bytes + bytes / 4;
    arena_ = std::make_unique<Arena>(backend_, arena_bytes_);
    moved = true;
  }
  if (moved) forget_graphs(backend_);  // what was recorded holds the old places
  sentences_.clear();
  index_.clear();
  last_rows_ = 0;
  step_ = 0;
  key_rows_ = Regions(room_.source_rows);
  slots_ = Regions(room_.cache_rows);
}

PackedSide Decoding::pack(const Sources& sources) {
  std::vector<int32_t> ids, offsets{0};
  std::vector<uint32_t> pair, position;
  for (size_t s = 0; s < sources.size(); ++s) {
    TX_ASSERT(!sources[s].empty() && int64_t(sources[s].size()) <= transformer_.longest());
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

bool Decoding::join(const Sources& sources, std::span<const int64_t> longest, int width) {
  TX_ASSERT(arena_ && sources.size() == longest.size() && width > 0);
  int64_t rows = 0;
  for (const auto& source : sources) rows += int64_t(source.size());
  const int64_t first = key_rows_.take(rows);
  if (first < 0) return false;
  std::vector<Sentence> newcomers;
  int64_t key = first;
  for (size_t i = 0; i < sources.size(); ++i) {
    TX_ASSERT(longest[i] > 0 && longest[i] <= room_.steps);
    const int64_t slots = longest[i] * width, slot = slots_.take(slots);
    if (slot < 0) {
      for (const Sentence& s : newcomers) slots_.give(s.first_slot, s.slots);
      key_rows_.give(first, rows);
      return false;
    }
    const int64_t keys = int64_t(sources[i].size());
    newcomers.push_back({key, keys, slot, slots, step_, longest[i], width, true});
    key += keys;
  }
  logits_ = Tensor();
  source_ = pack(sources);
  Context context(backend_, *arena_, dtype_);
  const Tensor memory = transformer_.memory(context, transformer_.encode(context, source_, {}));
  on(backend_, [&](auto& k) { k.convert(memory.value(), keys_.slice(first, rows)); });
  sentences_.insert(sentences_.end(), newcomers.begin(), newcomers.end());
  return true;
}

void Decoding::leave(int32_t sentence) {
  TX_ASSERT(size_t(sentence) < sentences_.size() && sentences_[size_t(sentence)].here);
  Sentence& s = sentences_[size_t(sentence)];
  s.here = false;
  key_rows_.give(s.first_key, s.keys);
  slots_.give(s.first_slot, s.slots);
}

void Decoding::begin(const Sources& sources, int64_t max_rows, int64_t max_steps) {
  Room room;
  for (const auto& source : sources) room.source_rows += int64_t(source.size());
  room.rows = max_rows;
  room.cache_rows = int64_t(sources.size()) * max_rows * max_steps;
  room.steps = max_steps;
  open(room);
  const std::vector<int64_t> longest(sources.size(), max_steps);
  TX_ASSERT(join(sources, longest, int(max_rows)));
}

// Uploads the step's rows and extends each hypothesis' list of cache rows by its own.
void Decoding::follow(std::span<const Row> rows) {
  const size_t count = size_t(rounded(int64_t(rows.size())));
  int64_t oldest = 0;
  for (const Row& row : rows) {
    TX_ASSERT(size_t(row.sentence) < sentences_.size());
    oldest = std::max(oldest, step_ - sentences_[size_t(row.sentence)].born);
  }
  const size_t before = size_t(stride_), stride = size_t(replays_ ? room_.steps : oldest + 1);
  // What rows that only fill up a number do: one key, of the row behind all others.
  const int32_t spare = int32_t(room_.cache_rows);
  std::vector<int32_t> ids(count, 0), first(count, 0), slots(count, spare);
  std::vector<int32_t> source_lengths(count, 1), lengths(count, 1);
  std::vector<uint32_t> positions(count, 0);
  next_index_.assign(count * stride, spare);
  int64_t place = 0;  // of the row among those of its sentence
  for (size_t r = 0; r < rows.size(); ++r) {
    const Sentence& s = sentences_[size_t(rows[r].sentence)];
    place = r > 0 && rows[r - 1].sentence == rows[r].sentence ? place + 1 : 0;
    const int64_t age = step_ - s.born;
    TX_ASSERT(s.here && place < s.width && age < s.longest);
    TX_ASSERT(age == 0 || size_t(rows[r].parent) < last_rows_);
    ids[r] = rows[r].token;
    first[r] = int32_t(s.first_key);
    source_lengths[r] = int32_t(s.keys);
    lengths[r] = int32_t(age + 1);
    positions[r] = uint32_t(age);
    slots[r] = int32_t(s.first_slot + age * s.width + place);
    int32_t* to = next_index_.data() + r * stride;
    if (age > 0) std::copy_n(index_.data() + size_t(rows[r].parent) * before, age, to);
    to[age] = slots[r];
  }
  index_.swap(next_index_);
  stride_ = int64_t(stride);
  last_rows_ = rows.size();
  target_.ids = step_ids_.set<int32_t>(ids);
  target_.keys.position = step_positions_.set<uint32_t>(positions);
  target_.rows = int64_t(count);
  self_.index = step_index_.set<int32_t>(index_);
  self_.index_stride = int64_t(stride);
  self_.lengths = lengths_.set<int32_t>(lengths);
  cross_.first = first_.set<int32_t>(first);
  cross_.lengths = source_lengths_.set<int32_t>(source_lengths);
  slot_ = step_slots_.set<int32_t>(slots);
}

Matrix Decoding::step(std::span<const Row> rows) {
  TX_ASSERT(arena_ && int64_t(rows.size()) <= room_.rows && !rows.empty());
  logits_ = Tensor();
  follow(rows);
  const auto pass = [&] {
    Context context(backend_, *arena_, dtype_);
    logits_ = run(context, target_.rows);
    places_[target_.rows] = logits_.value();
  };
  const int64_t self = int64_t(reinterpret_cast<uintptr_t>(this) >> 4) << 20;
  replay(backend_, self | target_.rows, pass);
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

Tensor Decoding::attend_cache(Context& context, size_t layer, Tensor x, int64_t rows) {
  const Transformer::AttentionWeights& w = transformer_.decoder_layers()[layer].self;
  const int64_t keys = int64_t(self_.heads) * self_.d_k, values = int64_t(self_.heads) * self_.d_v;
  Tensor out = context.make(rows, values), now = context.make(rows, row_width_);
  context.run([&](auto& k) {
    const Matrix cache =
        cache_.slice(int64_t(layer) * (room_.cache_rows + 1), room_.cache_rows + 1);
    k.product_rows(x.value(), w.in.value, w.in_bias.value, Activation::none, now.value());
    k.scatter_rows(now.value(), slot_, cache);
    CachedAttention p = self_;
    p.q = now.value().columns(0, keys);
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
