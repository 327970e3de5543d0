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
      step_rows_(backend),
      lists_(backend) {
  replays_ = replays(backend);
  const ModelConfig& c = transformer.config();
  row_width_ = int64_t(c.heads) * (c.d_k + c.d_v);
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

// A row more, which rows that only fill up a number write to.
int64_t Decoding::cache_rows(const Room& room) const {
  return int64_t(transformer_.decoder_layers().size()) * (room.cache_rows + 1);
}

// Arena bytes that encoding the sources and a step take, found on a counting arena.
size_t Decoding::plan(const Room& room) {
  Arena counting;
  Context context(backend_, counting, dtype_);
  source_.rows = room.source_rows;
  transformer_.memory(context, transformer_.encode(context, source_, {}));
  run(context, rounded(room.rows));
  return counting.peak();
}

size_t Decoding::bytes(const Room& room) {
  const size_t element = size_of(dtype_), needed = plan(room);
  const int64_t uploads = 6 * room.source_rows + rounded(room.rows) * columns;  // pack() has four
  return held_bytes(needed + needed / 4) +
         held_bytes(size_t(cache_rows(room) * row_width_) * element) +
         held_bytes(size_t(room.source_rows * transformer_.memory_width()) * element) +
         held_bytes(size_t(2 * list_entries(room)) * 4) + size_t(uploads) * 4;
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

void Decoding::open(const Room& room) {
  TX_ASSERT(room.steps <= transformer_.longest() && room.rows > 0 && room.source_rows > 0);
  logits_ = Tensor();
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
  if (reserve(cache_, cache_bytes_, cache_rows(room_), row_width_)) moved = true;
  if (reserve(keys_, keys_bytes_, room_.source_rows, transformer_.memory_width())) moved = true;
  if (step_rows_.reserve(size_t(rounded(room_.rows) * columns))) moved = true;
  if (lists_.reserve(size_t(2 * list_entries(room_)))) moved = true;
  const size_t wanted = plan(room_);
  if (!arena_ || wanted > arena_bytes_) {
    arena_.reset();
    arena_bytes_ = wanted + wanted / 4;
    arena_ = std::make_unique<Arena>(backend_, arena_bytes_);
    moved = true;
  }
  if (moved) forget_graphs(backend_);  // what was recorded holds the old places
  sentences_.clear();
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

// Uploads the step's rows: what is read, and what makes each hypothesis' list longer by its own.
void Decoding::follow(std::span<const Row> rows) {
  const size_t count = size_t(rounded(int64_t(rows.size())));
  rows_.assign(count * columns, 0);
  const auto column = [&](Column c) { return rows_.data() + c * count; };
  // What rows that only fill up a number do: one key, of the row behind all others.
  std::fill_n(column(slot), count, int32_t(room_.cache_rows));
  std::fill_n(column(length), count, 1);
  std::fill_n(column(source_length), count, 1);
  int64_t place = 0;  // of the row among those of its sentence
  for (size_t r = 0; r < rows.size(); ++r) {
    TX_ASSERT(size_t(rows[r].sentence) < sentences_.size());
    const Sentence& s = sentences_[size_t(rows[r].sentence)];
    place = r > 0 && rows[r - 1].sentence == rows[r].sentence ? place + 1 : 0;
    const int64_t age = step_ - s.born;
    TX_ASSERT(s.here && place < s.width && age < s.longest);
    TX_ASSERT(age == 0 || size_t(rows[r].parent) < last_rows_);
    column(id)[r] = rows[r].token;
    column(position)[r] = int32_t(age);
    column(parent)[r] = rows[r].parent;
    column(slot)[r] = int32_t(s.first_slot + age * s.width + place);
    column(length)[r] = int32_t(age + 1);
    column(first_key)[r] = int32_t(s.first_key);
    column(source_length)[r] = int32_t(s.keys);
  }
  last_rows_ = rows.size();
  const int32_t* uploaded = step_rows_.set<int32_t>(rows_);
  const auto there = [&](Column c) { return uploaded + c * count; };
  target_.ids = there(id);
  target_.keys.position = reinterpret_cast<const uint32_t*>(there(position));
  target_.rows = int64_t(count);
  int32_t* const halves[] = {lists_.data(), lists_.data() + list_entries(room_)};
  extension_ = {halves[(step_ + 1) % 2], there(parent),  there(slot), there(length),
                halves[step_ % 2],       int64_t(count), room_.steps};
  self_.index = extension_.to;
  self_.index_stride = room_.steps;
  self_.lengths = there(length);
  cross_.first = there(first_key);
  cross_.lengths = there(source_length);
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
  // Two records for each number of rows: the lists change places at every step.
  const int64_t self = int64_t(reinterpret_cast<uintptr_t>(this) >> 4) << 20;
  const int64_t which = 2 * target_.rows + step_ % 2;
  TX_ASSERT(!replays_ || which < 1 << 20);
  replay(backend_, self | which, pass);
  ++step_;
  return places_.at(target_.rows).slice(0, int64_t(rows.size()));
}

Tensor Decoding::run(Context& context, int64_t rows) {
  target_.rows = rows;
  context.run([&](auto& k) { k.extend_lists(extension_); });
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
  Tensor out = context.make(rows, values), now = context.make(rows, keys + row_width_);
  context.run([&](auto& k) {
    const Matrix cache =
        cache_.slice(int64_t(layer) * (room_.cache_rows + 1), room_.cache_rows + 1);
    k.product_rows(x.value(), w.in.value, w.in_bias.value, Activation::none, now.value());
    k.scatter_rows(now.value().columns(keys, row_width_), extension_.slots, cache);
    CachedAttention p = self_;
    p.q = now.value().columns(0, keys);
    p.k = cache.columns(0, keys);
    p.v = cache.columns(keys, values);
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
