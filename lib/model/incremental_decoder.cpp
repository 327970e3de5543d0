#include "lib/model/incremental_decoder.h"

#include <algorithm>
#include <utility>

namespace tx {

PickedOutput::~PickedOutput() {
  backend_->release_prepared(picked_.weight.value);
  backend_->release(picked_.bias.value.data);
}

bool PickedOutput::pick(const Projection& output, std::span<const int32_t> ids) {
  rows_.assign(ids.begin(), ids.end());
  if (keeps_place_) {
    const auto all = size_t(output.weight.value.rows), held = size_t(picked_.weight.value.rows);
    const size_t grown = (ids.size() + ids.size() / 4 + 127) / 128 * 128;
    rows_.resize(ids.size() <= held ? held : std::min(all, grown));
  }
  const int64_t count = int64_t(rows_.size());
  const Matrix before = picked_.weight.value;
  backend_->pick_rows(output.weight.value, rows_.data(), count, picked_.weight.value);
  bool moved = before.prepared != picked_.weight.value.prepared || before.rows != count;
  if (!output.bias) return moved;
  Matrix& bias = picked_.bias.value;
  const size_t bytes = size_t(count) * size_of(output.bias.value.dtype);
  if (bytes > bias_bytes_) {
    backend_->release(bias.data);
    bias = {};  // allocate() may throw
    bias_bytes_ = 0;
    bias.data = backend_->allocate(bytes * 3 / 2);
    bias_bytes_ = bytes * 3 / 2;
    moved = true;
  }
  bias = matrix(bias.data, output.bias.value.dtype, 1, count);
  backend_->gather_columns(output.bias.value, ids_.set<int32_t>(rows_), bias);
  return moved;
}

IncrementalDecoder::IncrementalDecoder(Backend& backend, const Transformer& transformer,
                                       DType dtype)
    : backend_(backend),
      transformer_(transformer),
      dtype_(dtype),
      replays_(replays(backend)),
      record_(backend),
      sources_(backend),
      step_rows_(backend),
      prompt_slots_(backend),
      lists_(backend),
      kv_(std::make_shared<CachedKeysValues>()) {
  TX_ASSERT(transformer.config().is_decoder(transformer.config().sides.size() - 1));
  kv_->shape = transformer.attention_shape();
}

IncrementalDecoder::~IncrementalDecoder() {
  logits_ = Tensor();  // before the arena it lives in
  forget_graphs(backend_);
  backend_->release(kv_->cache.data);
  backend_->release(kv_->cross.data);
}

int64_t IncrementalDecoder::rounded(int64_t rows) const {
  if (!replays_) return rows;
  const int64_t to = rows <= 64 ? 8 : rows <= 256 ? 32 : rows <= 1024 ? 128 : 512;
  return (rows + to - 1) / to * to;
}

// One more row per layer than the capacity: padding rows of a step write to it.
int64_t IncrementalDecoder::cache_rows(const Capacity& capacity) const {
  return int64_t(transformer_.decoder_layers()) * (capacity.cache_rows + 1);
}

int64_t IncrementalDecoder::width() const {
  return recurrent() ? transformer_.config().d_model : kv_->shape.width();
}

DType IncrementalDecoder::dtype() const {
  if (!recurrent()) return transformer_.cache_dtype();
  return dtype_ == DType::f64 ? DType::f64 : DType::f32;
}

// The rows of a layer's cache that a sentence needs. Of a recurrent decoder never more than of
// another: at most longest - 2 rows without a parent before two halves.
int64_t IncrementalDecoder::slots_for(int64_t prompt, int64_t longest, int width) const {
  if (!recurrent()) return prompt + longest * width;
  return longest < 2 ? width : longest - 2 + 2 * width;
}

// (S, cross_width): the keys and values of all cross-attentions for source_.
Tensor IncrementalDecoder::cross_keys_values(Context& context) const {
  return transformer_.cross_keys_values(context, transformer_.hidden(context, {&source_, 1}));
}

// Arena bytes that encoding the sources and a step take, from a dry run on a counting arena.
size_t IncrementalDecoder::plan(const Capacity& capacity) {
  Arena counting;
  Context context(backend_, counting, dtype_);
  const bool picks = std::exchange(picks_, false);  // picked outputs never take more
  source_.rows = capacity.source_rows;
  if (has_cross())
    cross_keys_values(context);
  else if (source_.rows > 0)
    pass_prompts(context, nullptr);
  run(context, rounded(capacity.rows));
  picks_ = picks;
  return counting.peak();
}

size_t IncrementalDecoder::bytes(const Capacity& capacity) {
  const size_t element = size_of(transformer_.cache_dtype()), needed = plan(capacity);
  const int64_t uploads = 8 * capacity.source_rows +
                          rounded(capacity.rows) * columns;  // upload(): four arrays, with growth
  return held_bytes(needed + needed / 4) +
         held_bytes(size_t(cache_rows(capacity) * width()) * size_of(dtype())) +
         held_bytes(size_t(capacity.source_rows * transformer_.cross_width()) * element) +
         held_bytes(size_t(2 * list_entries(capacity)) * 4) + size_t(uploads) * 4;
}

// Makes `block` a matrix of this shape; returns whether its address changed.
bool IncrementalDecoder::reserve(Matrix& block, size_t& held, DType dtype, int64_t rows,
                                 int64_t cols) {
  const size_t bytes = size_t(rows) * size_t(cols) * size_of(dtype);
  const bool moves = bytes > held;
  if (moves) {
    backend_->release(block.data);
    block.data = nullptr;  // allocate() may throw
    held = 0;
    block.data = backend_->allocate(bytes);
    held = bytes;
  }
  block = matrix(block.data, dtype, rows, cols);
  return moves;
}

void IncrementalDecoder::open(const Capacity& capacity) {
  TX_ASSERT(capacity.steps <= transformer_.longest() && capacity.rows > 0 &&
            (capacity.source_rows > 0 || !has_cross()));
  logits_ = Tensor();
  Capacity needed = capacity;
  if (replays_) {  // recorded steps stay valid unless something grows
    needed.source_rows = std::max(capacity.source_rows, capacity_.source_rows);
    needed.rows = std::max(capacity.rows, capacity_.rows);
    needed.cache_rows = std::max(capacity.cache_rows, capacity_.cache_rows);
    needed.steps = std::max(capacity.steps, capacity_.steps);
  }
  bool moved = needed.cache_rows != capacity_.cache_rows || needed.steps != capacity_.steps;
  capacity_ = needed;
  kv_->cache_rows = capacity_.cache_rows + 1;
  if (!replays_) places_.clear();
  if (reserve(kv_->cache, cache_bytes_, dtype(), cache_rows(capacity_), width())) moved = true;
  if (reserve(kv_->cross, cross_bytes_, transformer_.cache_dtype(), capacity_.source_rows,
              transformer_.cross_width()))
    moved = true;
  const size_t words = size_t(rounded(capacity_.rows) * columns);
  if (step_rows_.reserve(words)) moved = true;
  if (record_.reserve(words)) moved = true;
  if (lists_.reserve(size_t(2 * list_entries(capacity_)))) moved = true;
  const size_t wanted = plan(capacity_);
  if (!arena_ || wanted > arena_bytes_) {
    arena_.reset();
    arena_bytes_ = wanted + wanted / 4;
    arena_ = std::make_unique<Arena>(backend_, arena_bytes_);
    moved = true;
  }
  if (moved) forget_graphs(backend_);  // recorded steps use the old addresses
  picks_ = false;
  sentences_.clear();
  last_rows_ = 0;
  step_ = 0;
  source_rows_ = RangeAllocator(capacity_.source_rows);
  slots_ = RangeAllocator(capacity_.cache_rows);
}

PackedSide IncrementalDecoder::upload(const Sources& sources) {
  std::vector<std::span<const int>> sentences;
  for (const std::vector<int>& source : sources) {
    TX_ASSERT(int64_t(source.size()) <= transformer_.longest());
    sentences.emplace_back(source);
  }
  return sources_.upload(sentences);
}

// Writes the keys and values of all cross-attentions to the rows of kv_->cross from first_row on.
void IncrementalDecoder::encode(const Sources& sources, int64_t first_row) {
  source_ = upload(sources);
  Context context(backend_, *arena_, dtype_);
  const Tensor cross = cross_keys_values(context);
  backend_->convert(cross.value(), kv_->cross.slice(first_row, source_.rows));
}

// Runs the prompts through the layers as a packed batch, only for their keys and values.
void IncrementalDecoder::pass_prompts(Context& context, const int32_t* slots) const {
  transformer_.decode(
      context, source_,
      std::make_shared<PromptKeysValues>(kv_->shape, source_, kv_->cache, kv_->cache_rows, slots));
}

void IncrementalDecoder::read_prompts(const Sources& sources, std::span<const Sentence> sentences) {
  Sources prompts;
  std::vector<int32_t> slots;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].empty()) continue;
    prompts.push_back(sources[i]);
    for (size_t row = 0; row < sources[i].size(); ++row)
      slots.push_back(int32_t(sentences[i].first_slot) + int32_t(row));
  }
  if (prompts.empty()) return;
  source_ = upload(prompts);
  Context context(backend_, *arena_, dtype_);
  pass_prompts(context, prompt_slots_.set<int32_t>(slots));
}

bool IncrementalDecoder::admit(const Sources& sources, std::span<const int64_t> longest,
                               int width) {
  TX_ASSERT(arena_ && sources.size() == longest.size() && width > 0);
  int64_t rows = 0;
  for (const auto& source : sources) {
    TX_ASSERT(!source.empty() || !has_cross());
    rows += int64_t(source.size());
  }
  const int64_t first = has_cross() ? source_rows_.take(rows) : 0;
  if (first < 0 || rows > capacity_.source_rows) return false;
  std::vector<Sentence> admitted;
  int64_t key = first;
  for (size_t i = 0; i < sources.size(); ++i) {
    const int64_t length = int64_t(sources[i].size()), prompt = has_cross() ? 0 : length;
    TX_ASSERT(longest[i] > 0 && prompt + longest[i] <= capacity_.steps);
    const int64_t slots = slots_for(prompt, longest[i], width), slot = slots_.take(slots);
    if (slot < 0) {
      for (const Sentence& s : admitted) slots_.give(s.first_slot, s.slots);
      if (has_cross()) source_rows_.give(first, rows);
      return false;
    }
    const int64_t keys = length - prompt;
    admitted.push_back({key, keys, slot, slots, prompt, step_, prompt + longest[i], width, true});
    key += keys;
  }
  logits_ = Tensor();
  if (has_cross())
    encode(sources, first);
  else
    read_prompts(sources, admitted);
  sentences_.insert(sentences_.end(), admitted.begin(), admitted.end());
  return true;
}

void IncrementalDecoder::release(int32_t sentence) {
  TX_ASSERT(size_t(sentence) < sentences_.size() && sentences_[size_t(sentence)].active);
  Sentence& s = sentences_[size_t(sentence)];
  s.active = false;
  if (has_cross()) source_rows_.give(s.first_key, s.keys);
  slots_.give(s.first_slot, s.slots);
}

void IncrementalDecoder::pick(std::span<const int32_t> ids) {
  if (!picked_) picked_ = std::make_unique<PickedOutput>(backend_, replays_);
  // Recorded steps use the old addresses.
  if (picked_->pick(transformer_.output(), ids)) forget_graphs(backend_);
  picks_ = true;
}

void IncrementalDecoder::begin(const Sources& sources, int64_t max_rows, int64_t max_steps) {
  Capacity capacity;
  int64_t prompt = 0;
  for (const auto& source : sources) {
    capacity.source_rows += int64_t(source.size());
    if (!has_cross()) prompt = std::max(prompt, int64_t(source.size()));
  }
  capacity.rows = max_rows;
  capacity.cache_rows = int64_t(sources.size()) * (prompt + max_rows * max_steps);
  capacity.steps = prompt + max_steps;
  open(capacity);
  const std::vector<int64_t> longest(sources.size(), max_steps);
  TX_ASSERT(admit(sources, longest, int(max_rows)));
}

// Writes the record of the step's rows: inputs, and the cache row that each appends to its list.
void IncrementalDecoder::follow(std::span<const Row> rows) {
  if (std::exchange(busy_, false)) backend_->wait();
  const size_t count = size_t(rounded(int64_t(rows.size())));
  const auto column = [&](Column c) { return record_.data<int32_t>() + c * count; };
  std::fill_n(record_.data<int32_t>(), count * columns, 0);
  if (recurrent()) std::fill_n(column(parent), count, -1);
  // Padding rows read one key, that of the extra cache row.
  std::fill_n(column(slot), count, int32_t(capacity_.cache_rows));
  std::fill_n(column(length), count, 1);
  std::fill_n(column(source_length), count, 1);
  int64_t place = 0;  // of the row within its sentence
  for (size_t r = 0; r < rows.size(); ++r) {
    TX_ASSERT(size_t(rows[r].sentence) < sentences_.size());
    Sentence& s = sentences_[size_t(rows[r].sentence)];
    place = r > 0 && rows[r - 1].sentence == rows[r].sentence ? place + 1 : 0;
    const bool begins = rows[r].parent < 0;
    const int64_t age = begins ? 0 : step_ - s.born, at = s.prompt + age;
    TX_ASSERT(s.active && age >= 0 && at < s.last);
    TX_ASSERT(begins ? place == 0 || !replays_
                     : place < s.width && size_t(rows[r].parent) < last_rows_);
    column(id)[r] = rows[r].token;
    column(position)[r] = int32_t(at);
    const int64_t own = s.first_slot + s.prompt, block = recurrent() ? age % 2 : age;
    if (recurrent())
      column(parent)[r] = !begins        ? last_slots_[size_t(rows[r].parent)]
                          : s.prompt > 0 ? int32_t(own - 1)
                                         : -1;
    else
      column(parent)[r] = begins ? -1 - int32_t(s.first_slot) : rows[r].parent;
    column(slot)[r] = int32_t(own + block * s.width + (begins ? 0 : place));
    column(length)[r] = int32_t(at + 1);
    column(first_key)[r] = int32_t(s.first_key);
    column(source_length)[r] = int32_t(s.keys);
    if (!begins) continue;
    ++s.prompt;
    s.born = step_ + 1;
  }
  last_rows_ = rows.size();
  if (recurrent()) last_slots_.assign(column(slot), column(slot) + rows.size());
  const auto there = [&](Column c) { return step_rows_.data() + c * count; };
  target_.ids = there(id);
  target_.keys.position = reinterpret_cast<const uint32_t*>(there(position));
  target_.rows = int64_t(count);
  int32_t* const halves[] = {lists_.data(), lists_.data() + list_entries(capacity_)};
  extension_ = {halves[(step_ + 1) % 2], there(parent),  there(slot),    there(length),
                halves[step_ % 2],       int64_t(count), capacity_.steps};
  kv_->self_rows.index = extension_.to;
  kv_->self_rows.index_stride = capacity_.steps;
  kv_->self_rows.lengths = there(length);
  kv_->cell_rows.from = there(parent);
  kv_->cell_rows.to = there(slot);
  kv_->cross_rows.first = there(first_key);
  kv_->cross_rows.lengths = there(source_length);
}

Matrix IncrementalDecoder::step(std::span<const Row> rows) {
  TX_ASSERT(arena_ && int64_t(rows.size()) <= capacity_.rows && !rows.empty());
  logits_ = Tensor();
  follow(rows);
  // Recordings for each number of rows: the two halves of lists_ alternate, and the output may be
  // picked.
  const int64_t which = 4 * target_.rows + step_ % 2 + (picks_ ? 2 : 0);
  const auto pass = [&] {
    backend_->copy_shared(step_rows_.data(), record_.data<int32_t>(),
                          size_t(target_.rows * columns) * 4);
    Context context(backend_, *arena_, dtype_);
    logits_ = run(context, target_.rows);
    places_[which] = logits_.value();
    if (ending_) ending_(logits_.value());
  };
  const int64_t self = int64_t(reinterpret_cast<uintptr_t>(this) >> 4) << 20;
  TX_ASSERT(!replays_ || which < 1 << 20);
  busy_ = true;
  replay(backend_, self | which, pass);
  ++step_;
  return places_.at(which).slice(0, int64_t(rows.size()));
}

Tensor IncrementalDecoder::run(Context& context, int64_t rows) {
  target_.rows = rows;
  if (!recurrent()) context.run([&](auto& k) { k.extend_lists(extension_); });
  context.late_kernels = replays_;
  Tensor hidden = transformer_.decode(context, target_, kv_);
  Tensor logits = picks_ ? picked_->projection()(context, std::move(hidden))
                         : transformer_.logits(context, std::move(hidden));
  context.run_late();
  return logits;
}

}  // namespace tx
