#include "lib/data/packing.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "lib/base/error.h"
#include "lib/data/links.h"
#include "lib/data/masking.h"

namespace tx {

namespace {

constexpr int64_t source_granule = 64;

std::atomic<uint64_t> batches_packed = 0;  // in this process

std::vector<double> mean_rows(const PairLengths& lengths) {
  std::vector<double> mean;
  for (int s = 0; s < lengths.sides(); ++s)
    mean.push_back(double(lengths.rows(s)) / double(lengths.pairs()));
  return mean;
}

// Whether a batch of these capacities can hold each side's longest line, its <eos> and a dummy.
bool hold_all(const PairLengths& lengths, const std::vector<int>& capacities) {
  for (int s = 0; s < lengths.sides(); ++s)
    if (lengths.longest(s) > capacities[size_t(s)] - 2) return false;
  return true;
}

// Fills one side of a batch.
struct SideWriter {
  BatchSide& side;
  int row = 0;

  explicit SideWriter(BatchSide& out, int capacity) : side(out) {
    side.ids.assign(size_t(capacity), Vocabulary::pad);
    side.pair.assign(size_t(capacity), dummy_pair);
    side.position.assign(size_t(capacity), 0);
    side.offsets.assign(1, 0);
  }
  void end_sentence(int rows, uint32_t pair) {
    for (int i = 0; i < rows; ++i) {
      side.pair[row + i] = pair;
      side.position[row + i] = uint32_t(i);
    }
    row += rows;
    side.offsets.push_back(row);
  }
};

// The pairs of a batch, and `given`: their ids per pair and side, empty if the cache's are used.
struct TakenPairs {
  std::vector<Candidate> pairs;
  std::vector<std::vector<std::vector<int>>> given;
  bool masked, denoised;
  uint64_t seed;
  int64_t epoch;
};

// Writes ids[0] and the labels of a target whose tokens are ids[1] to ids[tokens]. `whole`: it ends
// with <eos> even inside a document. The first token after a cut was the last label of the previous
// sequence, so it gets no label; nor does <bos> inside a text.
void write_labels(const IdCache& cache, int64_t pair, bool whole, int tokens, int32_t* ids,
                  int32_t* labels) {
  const int side = cache.sides() - 1;
  const bool begins = whole || !cache.continues(pair);
  const bool ends = whole || pair + 1 == cache.pairs() || !cache.continues(pair + 1);
  ids[0] = begins ? Vocabulary::bos : cache.id(pair - 1, side, cache.length(pair - 1, side) - 1);
  std::copy_n(ids + 1, tokens, labels);
  if (!begins) labels[0] = no_label;
  labels[tokens] = ends ? Vocabulary::eos : cache.id(pair + 1, side, 0);
  std::replace(labels, labels + tokens + 1, int32_t(Vocabulary::bos), no_label);
}

void write_side(const IdCache& cache, int s, const TakenPairs& taken, Batch& batch,
                SideWriter& writer) {
  const bool target = size_t(s) + 1 == batch.sides.size();
  for (size_t i = 0; i < taken.pairs.size(); ++i) {
    const Candidate& candidate = taken.pairs[i];
    const bool cached = taken.given.empty();
    const int left = int(writer.side.ids.size()) - writer.row - 1;  // if the file was overwritten
    const int tokens = cached ? std::clamp(cache.length(candidate.pair, s), 0, left)
                              : int(taken.given[i][size_t(s)].size());
    int32_t* ids = writer.side.ids.data() + writer.row;
    if (cached)
      cache.copy(candidate.pair, s, {ids + (target ? 1 : 0), size_t(tokens)});
    else
      std::copy_n(taken.given[i][size_t(s)].begin(), tokens, ids + (target ? 1 : 0));
    if (!target) {
      ids[tokens] = Vocabulary::eos;
    } else if (taken.masked) {
      ids[0] = Vocabulary::bos;
      mask_tokens({taken.seed, taken.epoch, candidate.place}, cache.vocabulary_size(s),
                  {ids + 1, size_t(tokens)},
                  std::span(batch.labels).subspan(size_t(writer.row) + 1, size_t(tokens)));
    } else {
      write_labels(cache, candidate.pair, taken.denoised, tokens, ids,
                   batch.labels.data() + writer.row);
    }
    writer.end_sentence(tokens + 1, candidate.place);
  }
}

// The number of dummies for the remaining rows: short ones, with at least one row on each side.
int count_dummies(const std::vector<int>& left) {
  int wanted = 1, possible = std::numeric_limits<int>::max();
  for (const int rows : left) {
    wanted = std::max(wanted, (rows + longest_dummy - 1) / longest_dummy);
    possible = std::min(possible, rows);
  }
  return std::min(wanted, possible);
}

void write_batch(const IdCache& cache, const std::vector<int>& capacities, const TakenPairs& taken,
                 Batch& batch) {
  batch.sides.resize(capacities.size());
  batch.labels.assign(size_t(capacities.back()), no_label);
  batch.sentences = int(taken.pairs.size());
  batch.lines.clear();
  for (const Candidate& candidate : taken.pairs) batch.lines.push_back(cache.line(candidate.pair));
  std::vector<SideWriter> writers;
  std::vector<int> left;
  batch.tokens.clear();
  for (size_t s = 0; s < capacities.size(); ++s) {
    writers.emplace_back(batch.sides[s], capacities[s]);
    write_side(cache, int(s), taken, batch, writers[s]);
    batch.tokens.push_back(writers[s].row);
    left.push_back(capacities[s] - writers[s].row);
  }
  const int64_t dummies = count_dummies(left);
  for (size_t s = 0; s < left.size(); ++s)
    for (int64_t i = 0; i < dummies; ++i)
      writers[s].end_sentence(int(left[s] * (i + 1) / dummies - left[s] * i / dummies), dummy_pair);
}

// The beginning of the message about the first pair of the text that exceeds a capacity.
std::string too_small(const PairLengths& text, const std::vector<int>& capacities) {
  int side = 0;
  while (text.longest(side) <= capacities[size_t(side)] - 2) ++side;
  const std::string begin =
      "--batch-tokens " + std::to_string(capacities.back()) + " is too small for ";
  const IdCache& cache = text.cache();
  if (cache.report().documents > 0)
    return begin + "sentences of " + std::to_string(text.longest(side) + 1) +
           " tokens, which --context allows";
  int64_t pair = 0;
  while (text.length(pair, side) != text.longest(side)) ++pair;
  return begin + "the pair of line " + std::to_string(cache.line(pair)) + ", which has " +
         std::to_string(text.longest(side)) + " tokens on its " +
         (side + 1 == text.sides() ? "target" : "source") + " side";
}

}  // namespace

int smallest_batch_tokens(const std::vector<PairLengths>& texts) {
  int low = 1, high = std::numeric_limits<int>::max() / 4;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    const std::vector<int> capacities = batch_capacities(texts.front(), middle);
    if (std::all_of(texts.begin(), texts.end(),
                    [&](const PairLengths& text) { return hold_all(text, capacities); }))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

void check_capacities(const std::vector<PairLengths>& texts, const std::vector<int>& capacities,
                      bool fixed) {
  for (const PairLengths& text : texts) {
    if (hold_all(text, capacities)) continue;
    if (fixed)
      throw UsageError(too_small(text, capacities) +
                       "; a resumed run keeps its batches: remove it from the validation text");
    throw UsageError(
        too_small(text, capacities) + "; the minimum is --batch-tokens " +
        std::to_string(smallest_batch_tokens(texts)) +
        (text.cache().report().documents > 0 ? "" : " (or drop long pairs with --max-length)"));
  }
}

std::vector<int> batch_capacities(const PairLengths& lengths, int batch_tokens) {
  const int target = lengths.sides() - 1;
  std::vector<int> capacities;
  for (int s = 0; s < target; ++s) {
    const double rows = batch_tokens * double(lengths.rows(s)) / double(lengths.rows(target));
    const double max = double(std::numeric_limits<int>::max() / source_granule);
    const double granules = std::min(max, std::ceil(rows / source_granule));
    capacities.push_back(int(int64_t(granules) * source_granule));
  }
  capacities.push_back(batch_tokens);
  return capacities;
}

Packer::Packer(const IdCache& cache, PackerOptions options)
    : cache_(cache),
      options_(std::move(options)),
      lengths_(cache, options_.sentinels.size()),
      order_(uint64_t(cache.pairs()), options_.seed, 0),
      window_(mean_rows(lengths_)) {
  TX_ASSERT(cache.pairs() < int64_t(dummy_pair));
  if (options_.capacities.empty())
    options_.capacities = batch_capacities(lengths_, options_.batch_tokens);
  TX_ASSERT(int(options_.capacities.size()) == lengths_.sides());
  TX_ASSERT(options_.sentinels.empty() || (!options_.dropout && !options_.links));
  check_capacities({lengths_}, options_.capacities);
  for (const int capacity : options_.capacities) room_.push_back(capacity - 1);
}

void Packer::begin_epoch(int64_t epoch) {
  epoch_ = epoch;
  cursor_ = 0;
  order_ = Permutation(uint64_t(cache_.pairs()), options_.seed, uint64_t(epoch));
  window_.clear();
  waiting_.clear();
}

Packer::PairIds Packer::cut(uint32_t pair) const {
  PairIds ids;
  for (int s = 0; s < cache_.sides(); ++s)
    ids.push_back(options_.dropout->ids(pair, s, epoch_, options_.capacities[s] - 2));
  return ids;
}

void Packer::add_to_window(uint32_t place) {
  const auto pair = uint32_t(options_.shuffle ? order_(place) : place);
  std::vector<int> rows;
  if (options_.dropout == nullptr) {
    for (int s = 0; s < lengths_.sides(); ++s) rows.push_back(lengths_.length(pair, s) + 1);
  } else {
    waiting_[place] = cut(pair);
    for (const auto& ids : waiting_[place]) rows.push_back(int(ids.size()) + 1);
  }
  window_.add({place, pair}, rows);
}

void Packer::refill() {
  while (window_.size() < size_t(options_.window) && cursor_ < cache_.pairs())
    add_to_window(uint32_t(cursor_++));
}

bool Packer::begin_batch() {
  if (options_.epochs > 0 && epoch() >= options_.epochs) return false;
  cache_.check_unchanged();
  if (epoch_over()) begin_epoch(epoch_ + 1);
  refill();
  return true;
}

int64_t Packer::batches(int64_t epochs, int64_t max) const {
  const int64_t rows = epochs * lengths_.rows(lengths_.sides() - 1);
  if (max > 0 && !options_.dropout && rows / options_.capacities.back() >= max) return max;
  PackerOptions options = options_;
  options.epochs = epochs;
  Packer packer(cache_, options);
  int64_t count = 0;
  for (; (max == 0 || count < max) && packer.begin_batch(); ++count)
    for (const Candidate& taken : packer.window_.take(room_)) packer.waiting_.erase(taken.place);
  return count;
}

bool Packer::next(Batch& batch) {
  if (!begin_batch()) return false;
  const bool denoised = !options_.sentinels.empty();
  TakenPairs taken{window_.take(room_), {}, options_.masked, denoised, options_.seed, epoch_};
  TX_ASSERT(!taken.pairs.empty());
  for (const Candidate& candidate : taken.pairs) {
    if (options_.dropout != nullptr)
      taken.given.push_back(std::move(waiting_.extract(candidate.place).mapped()));
    else if (denoised)
      taken.given.push_back(take_spans({options_.seed, epoch_, candidate.place}, options_.sentinels,
                                       cache_.ids(candidate.pair, 0)));
  }
  write_batch(cache_, options_.capacities, taken, batch);
  if (options_.links != nullptr) {
    std::vector<uint32_t> pairs;
    for (const Candidate& candidate : taken.pairs) pairs.push_back(candidate.pair);
    options_.links->write(pairs, batch);
  }
  cache_.check_unchanged();
  batch.epoch = epoch_;
  batch.serial = ++batches_packed;
  return true;
}

Json Packer::identity() const {
  Json json = {{"cache", cache_.checksum()}, {"pairs", cache_.pairs()},
               {"seed", options_.seed},      {"capacities", options_.capacities},
               {"window", options_.window},  {"shuffle", options_.shuffle}};
  if (options_.masked) json["masked"] = true;
  if (!options_.sentinels.empty()) json["sentinels"] = options_.sentinels.size();
  const PairDropout* dropout = options_.dropout;
  if (dropout != nullptr) json["bpe_dropout"] = dropout->probability();
  if (dropout != nullptr && dropout->epochs() > 0) json["bpe_dropout_epochs"] = dropout->epochs();
  return json;
}

Json Packer::state() const {
  Json waiting = Json::array();
  for (size_t i = 0; i < window_.size(); ++i) waiting.push_back(window_[i].place);
  return {{"of", identity()}, {"epoch", epoch_}, {"cursor", cursor_}, {"waiting", waiting}};
}

void Packer::restore(const Json& state) {
  try {
    restore_checked(state);
  } catch (const Json::exception&) {
    throw DataError("the saved position in the training data is damaged");
  }
}

void Packer::restore_checked(const Json& state) {
  const Json mine = identity();
  for (const auto& [key, value] : mine.items()) {
    const Json saved = state.at("of").value(key, Json());
    if (saved == value) continue;
    throw DataError("the saved position in the training data belongs to other data or options (" +
                    key + " " + to_text(saved) + ", now " + to_text(value) + ")");
  }
  const std::string damaged = "the saved position in the training data is damaged: ";
  int64_t cursor = 0, epoch = 0, min = 0;
  try {
    cursor = whole_number(state, "cursor", 0, cache_.pairs());
    epoch = whole_number(state, "epoch", 0, int64_t(1) << 53);
  } catch (const DataError& error) {
    throw DataError(damaged + error.what());
  }
  std::vector<uint32_t> waiting;  // ascending
  for (const Json& place : state.at("waiting")) {
    const int64_t value = place.is_number_integer() ? place.get<int64_t>() : -1;
    if (value < min || value >= cursor) throw DataError(damaged + "waiting");
    waiting.push_back(uint32_t(value));
    min = value + 1;
  }
  begin_epoch(epoch);
  for (const uint32_t place : waiting) add_to_window(place);
  cursor_ = cursor;
}

PairLengths::PairLengths(const IdCache& cache, size_t sentinels)
    : cache_(&cache), sentinels_(int(sentinels)) {
  TX_ASSERT(sentinels == 0 || cache.sides() == 1);
  for (int side = 0; side < sides(); ++side) {
    int64_t tokens = 0;
    if (sentinels_ > 0) {
      for (int64_t pair = 0; pair < pairs(); ++pair) tokens += length(pair, side);
      longest_.push_back(denoised_length(cache.longest(0), side, sentinels_));
    } else {
      tokens = cache.tokens(side);
      longest_.push_back(cache.longest(side));
    }
    rows_.push_back(tokens + pairs());
  }
}

int PairLengths::length(int64_t pair, int side) const {
  return sentinels_ > 0 ? denoised_length(cache_->length(pair, 0), side, sentinels_)
                        : cache_->length(pair, side);
}

}  // namespace tx
