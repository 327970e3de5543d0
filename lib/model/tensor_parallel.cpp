#include "lib/model/tensor_parallel.h"

#include <cstring>

#include "lib/base/error.h"
#include "lib/model/parameters.h"

namespace tx {

// Sizes differ by at most 1; equal if the count divides n.
ElementRange ModelShard::of(int64_t n) const {
  const auto begin = [&](int64_t i) { return n * i / count; };
  return {begin(index), begin(index + 1) - begin(index)};
}

std::vector<int32_t> shard_ids(const ElementRange& tokens, std::span<const int32_t> ids) {
  std::vector<int32_t> own;
  own.reserve(ids.size());
  for (const int32_t id : ids) {
    const int64_t at = id - tokens.first;
    own.push_back(at >= 0 && at < tokens.count ? int32_t(at) : -1);
  }
  return own;
}

void check_shards(const ModelConfig& config, int count) {
  const auto check = [&](const char* option, int64_t value) {
    if (value % count != 0)
      throw UsageError("--tensor-parallel " + std::to_string(count) + " does not divide " + option +
                       " " + std::to_string(value));
  };
  if (const char* option = config.exotic())
    throw UsageError(std::string("--tensor-parallel is not implemented for models with ") + option);
  check("--heads", config.heads);
  check("--kv-heads", config.key_heads());
  check("--d-ff", config.d_ff);
}

ModelConfig shard_config(const ModelConfig& whole, const ModelShard& shard) {
  if (shard.whole()) return whole;
  ModelConfig own = whole;
  own.heads = whole.heads / shard.count;
  own.kv_heads = whole.key_heads() / shard.count;
  own.d_ff = whole.d_ff / shard.count;
  for (SideConfig& side : own.sides) side.vocabulary = shard.of(side.vocabulary).count;
  return own;
}

EntryShard shard_of(const ParameterEntry& whole, const ModelShard& shard) {
  EntryShard own{{0, whole.rows}, {0, whole.cols}};
  if (whole.split == Split::inputs || (whole.vector && whole.split == Split::outputs))
    own.cols = shard.of(whole.cols);
  else if (whole.split == Split::outputs)
    own.rows = shard.of(whole.rows);
  return own;
}

namespace {

// Exchanges one weight at a time between rank 0, which has the whole weight, and every rank.
class Exchange {
 public:
  explicit Exchange(const Parameters& parameters)
      : parameters_(parameters),
        shard_(parameters.shard()),
        is_first_(shard_.index == 0),
        bytes_(size_t(shard_.count)) {
    TX_ASSERT(!parameters.backend()->has_own_memory());
  }

  void scatter(Matrix whole, Matrix own) {
    each(whole, own, [&](const ParameterEntry& entry, Matrix from, Matrix to) {
      if (is_first_)
        each_row(entry, from,
                 [](void* packed, void* row, size_t n) { std::memcpy(packed, row, n); });
      shard_.ranks->exchange(packed_.data(), bytes_, to.data, own_);
    });
  }
  void gather(Matrix own, Matrix whole) {
    each(whole, own, [&](const ParameterEntry& entry, Matrix to, Matrix from) {
      shard_.ranks->exchange(from.data, own_, packed_.data(), bytes_);
      if (is_first_)
        each_row(entry, to, [](void* packed, void* row, size_t n) { std::memcpy(row, packed, n); });
    });
  }

 private:
  // f(entry, whole weight, own shard) for every weight, with bytes_, own_ and packed_ set.
  template <class F>
  void each(Matrix whole, Matrix own, const F& f) {
    const std::vector<ParameterEntry> table = parameter_table(parameters_.whole());
    TX_ASSERT(is_first_ == !whole.empty() && table.size() == parameters_.table().size());
    const size_t size = size_of(own.dtype);
    for (size_t i = 0; i < table.size(); ++i) {
      const Matrix mine = parameters_.entry_of(own, parameters_.table()[i]);
      own_.assign(bytes_.size(), 0);
      own_[0] = size_t(mine.rows * mine.cols) * size;
      size_t all = 0;
      for (size_t r = 0; r < bytes_.size() && is_first_; ++r) {
        const auto [rows, cols] = shard_of(table[i], shard(r));
        all += bytes_[r] = size_t(rows.count * cols.count) * size;
      }
      packed_.resize(all);
      f(table[i], is_first_ ? parameters_.entry_of(whole, table[i]) : Matrix{}, mine);
    }
  }
  // f(packed, row, bytes) for every row of every shard of a weight, in the order of packed_.
  template <class F>
  void each_row(const ParameterEntry& entry, Matrix whole, const F& f) {
    const size_t size = size_of(whole.dtype);
    char* at = packed_.data();
    for (size_t r = 0; r < bytes_.size(); ++r) {
      const auto [rows, cols] = shard_of(entry, shard(r));
      const size_t width = size_t(cols.count) * size;
      for (int64_t i = rows.first; i < rows.first + rows.count; ++i, at += width)
        f(at, whole.slice(i, 1).columns(cols.first, cols.count).data, width);
    }
  }
  ModelShard shard(size_t r) const { return {int(r), shard_.count, nullptr}; }

  const Parameters& parameters_;
  const ModelShard& shard_;
  bool is_first_;
  std::vector<size_t> bytes_;  // of each rank's shard, on rank 0; else zeros
  std::vector<size_t> own_;    // of this rank's shard, to and from rank 0; zeros for other ranks
  std::vector<char> packed_;   // on rank 0: the shards of all ranks, one after another
};

}  // namespace

void scatter_shards(const Parameters& shard, Matrix whole, Matrix own) {
  Exchange(shard).scatter(whole, own);
}

void gather_shards(const Parameters& shard, Matrix own, Matrix whole) {
  Exchange(shard).gather(own, whole);
}

}  // namespace tx
