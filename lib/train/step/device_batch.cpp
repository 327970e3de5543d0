#include "lib/train/step/device_batch.h"

#include <algorithm>
#include <numeric>

#include "lib/base/philox.h"
#include "lib/tensor/arena.h"

namespace tx {
namespace {

constexpr size_t sentence_steps = 256;
constexpr size_t granule = 64;     // integers: arrays are aligned to 256 bytes
constexpr size_t usual_links = 4;  // estimate of the alignments per row

size_t rounded(size_t n, size_t step) { return (n + step - 1) / step * step; }

// Upper bound of the integers of a batch with sides of these lengths.
size_t block_size(const Batch& batch, bool links) {
  const auto array = [](size_t n) { return rounded(n, granule); };
  size_t all = array(batch.labels.size());
  for (const BatchSide& side : batch.sides)
    all += 5 * array(side.ids.size()) + array(side.ids.size() + sentence_steps + 1);
  if (links) all += array(batch.labels.size() + 1) + array(usual_links * batch.labels.size());
  return all;
}

// Rows sorted by id (stable).
std::vector<int32_t> rows_by_id(const std::vector<int32_t>& ids) {
  std::vector<int32_t> place(size_t(*std::max_element(ids.begin(), ids.end())) + 2);
  for (const int32_t id : ids) ++place[size_t(id) + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  std::vector<int32_t> rows(ids.size());
  for (size_t row = 0; row < ids.size(); ++row)
    rows[size_t(place[size_t(ids[row])]++)] = int32_t(row);
  return rows;
}

constexpr uint32_t second_copy = 1u << 31;  // in the pair numbers, which select dropout masks
constexpr uint32_t cut_site = 0x63757473;   // distinguishes the choice from other uses of the seed

BatchSide repeated(const BatchSide& side) {
  BatchSide twice = side;
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(twice.ids, side.ids);
  append(twice.position, side.position);
  for (const uint32_t pair : side.pair) twice.pair.push_back(pair ^ second_copy);
  for (size_t s = 1; s < side.offsets.size(); ++s)
    twice.offsets.push_back(side.offsets.back() + side.offsets[s]);
  return twice;
}

// 1 for each row of a repeated side that is cut.
std::vector<int32_t> cut_rows(const BatchSide& twice, size_t number, int64_t epoch,
                              const Copies& copies) {
  std::vector<int32_t> cut(twice.ids.size());
  const auto limit = uint64_t(copies.cutoff * 0x1p32);
  for (size_t i = cut.size() / 2; i < cut.size(); ++i)
    cut[i] = Philox::block(uint32_t(copies.seed), uint32_t(copies.seed >> 32) ^ cut_site,
                           uint32_t(epoch), twice.pair[i], twice.position[i], uint32_t(number))
                 .word[0] < limit;
  return cut;
}

}  // namespace

DeviceBatch::DeviceBatch(Backend& backend, const Parameters& parameters, int64_t longest,
                         bool with_links)
    : backend_(backend),
      parameters_(parameters),
      longest_(uint32_t(longest)),
      with_links_(with_links),
      block_(backend) {}

// Appends values to the block and returns their index.
template <class T>
size_t DeviceBatch::put(std::span<const T> values) {
  const size_t place = host_.size();
  host_.insert(host_.end(), values.begin(), values.end());
  host_.resize(rounded(host_.size(), granule));
  return place;
}

DeviceBatch::Places DeviceBatch::put_rows(const BatchSide& side, size_t number,
                                          const std::vector<int32_t>& cut) {
  Places at;
  const ModelShard& part = parameters_.shard();
  if (part.whole())
    at.ids = put<int32_t>(side.ids);
  else
    at.ids =
        put<int32_t>(shard_ids(part.of(parameters_.whole().sides[number].vocabulary), side.ids));
  if (replays(backend_)) at.by_id = put<int32_t>(rows_by_id(side.ids));
  if (!cut.empty()) at.cut = put<int32_t>(cut);
  at.pair = put<uint32_t>(side.pair);
  std::vector<uint32_t> position = side.position;
  for (uint32_t& x : position) x = std::min(x, longest_ - 1);
  at.position = put<uint32_t>(position);
  return at;
}

PackedSide DeviceBatch::side_at(const Places& at, int64_t rows, int64_t sentences) const {
  const auto keys = [&](size_t place) {
    return reinterpret_cast<const uint32_t*>(block_.data() + place);
  };
  PackedSide side;
  side.ids = block_.data() + at.ids;
  side.offsets = block_.data() + at.offsets;
  side.keys = {keys(at.pair), keys(at.position)};
  side.rows = rows;
  side.sentences = sentences;
  if (replays(backend_)) side.by_id = block_.data() + at.by_id;
  if (has_cut_) side.cut = block_.data() + at.cut;
  return side;
}

void DeviceBatch::upload(const Batch& batch, const Copies& copies) {
  if (batch.serial && batch.serial == serial_ && copies.twice == twice_) return;
  serial_ = 0;  // what follows may throw
  twice_ = copies.twice;
  has_cut_ = copies.twice && copies.cutoff > 0;
  if (copies.twice) {
    Batch twice = batch;
    for (BatchSide& side : twice.sides) side = repeated(side);
    return put_batch(twice, copies);
  }
  put_batch(batch, copies);
}

// Arrays that depend on the number of sentences are last: see places().
void DeviceBatch::put_batch(const Batch& batch, const Copies& copies) {
  host_.clear();
  const size_t labels = put<int32_t>(batch.labels);
  std::vector<Places> sides;
  for (size_t i = 0; i < batch.sides.size(); ++i) {
    std::vector<int32_t> cut;
    if (has_cut_) cut = cut_rows(batch.sides[i], i, batch.epoch, copies);
    sides.push_back(put_rows(batch.sides[i], i, cut));
  }
  size_t sentences = batch.sides.front().offsets.size() - 1;
  if (replays(backend_)) sentences = rounded(sentences, sentence_steps);
  for (size_t i = 0; i < sides.size(); ++i) {
    std::vector<int32_t> offsets = batch.sides[i].offsets;
    offsets.resize(sentences + 1, offsets.back());
    sides[i].offsets = put<int32_t>(offsets);
  }
  const bool links = with_links_ && !batch.links.starts.empty();
  const size_t starts = links ? put<int32_t>(batch.links.starts) : 0;
  const size_t columns = links ? put<int32_t>(batch.links.columns) : 0;

  block_.reserve(block_size(batch, links));
  const int32_t* block = block_.set<int32_t>(host_);
  labels_ = block + labels;
  sides_.clear();
  for (size_t i = 0; i < sides.size(); ++i)
    sides_.push_back(side_at(sides[i], int64_t(batch.sides[i].ids.size()), int64_t(sentences)));
  link_starts_ = links ? block + starts : nullptr;
  link_columns_ = links ? block + columns : nullptr;
  serial_ = batch.serial;
}

std::vector<const void*> DeviceBatch::places() const {
  std::vector<const void*> all{labels_};
  for (const PackedSide& side : sides_) all.push_back(side.ids);
  return all;
}

}  // namespace tx
