// Fast sums over rows of statistics: rows of 16-bit integers, added by a few vector instructions.
// The sums are exact, so they do not depend on the order and equal those in single precision.
// make() returns no value if that is impossible: fractions, too large numbers or too many rows.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tx {

// Eight numbers; every x86-64 adds them at once.
using Lanes16 [[gnu::vector_size(16)]] = int16_t;
struct alignas(64) CacheLine {
  Lanes16 vectors[4];
};

// For sums of as many rows as there are, drawn with replacement.
class PackedRows {
 public:
  // rows (count,size). No value: not integers from 0 to 4095, or a sum could exceed 2^24.
  static std::optional<PackedRows> make(std::span<const double> rows, size_t size);
  // sums (size) of the rows `indices`, at most as many as there are rows.
  void sum(std::span<const uint32_t> indices, std::span<float> sums) const;

 private:
  size_t width_ = 0, block_ = 0;  // vectors per row; rows whose sum fits 16 bits
  std::vector<CacheLine> rows_;
};

// For sums of any subset of rows, given as bits: has the sums of all 16 subsets of four rows.
class SubsetSums {
 public:
  // rows (count,size). No value: not integers from -1023 to 1023, or more than 2^20 rows.
  static std::optional<SubsetSums> make(std::span<const double> rows, size_t size);
  // sums (size) of the rows whose bit is set, row 0 the lowest of bits[0]; bits (words()).
  void sum(std::span<const uint32_t> bits, std::span<double> sums) const;
  size_t words() const { return words_; }  // of 32 rows, the last one padded with zeros

 private:
  size_t width_ = 0, block_ = 0, words_ = 0;  // vectors per row; words whose sum fits 16 bits
  std::vector<CacheLine> subsets_;            // (words,8,16,width)
};

}  // namespace tx
