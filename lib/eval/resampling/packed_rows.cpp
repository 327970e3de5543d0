#include "lib/eval/resampling/packed_rows.h"

#include <algorithm>
#include <cmath>

namespace tx {
namespace {

constexpr size_t lanes = 8;
using Lanes32 [[gnu::vector_size(32)]] = int32_t;

bool whole_below(std::span<const double> numbers, double min, double max) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](double x) { return x >= min && x <= max && x == std::floor(x); });
}

double largest(std::span<const double> numbers) {
  double max = 1;
  for (const double x : numbers) max = std::max(max, std::abs(x));
  return max;
}

// The number of vectors of a row of `size` numbers: 1, 2 or a multiple of 4, as cache lines.
size_t vectors_of(size_t size) {
  const size_t vectors = (size + lanes - 1) / lanes;
  return vectors <= 2 ? vectors : (vectors + 3) / 4 * 4;
}

// The vectors of all lines in a row.
Lanes16* first_of(std::vector<CacheLine>& lines) {
  return reinterpret_cast<Lanes16*>(lines.data());
}
const Lanes16* first_of(const std::vector<CacheLine>& lines) {
  return reinterpret_cast<const Lanes16*>(lines.data());
}

// Sums the vectors part..part + width - 1 of `count` rows: add_next(i, sum) adds those of row i to
// sum[0..width - 1]. Up to `block` rows are added in 16 bits, which do not overflow, then widened.
// Column k of vector v goes to sums[v * lanes + k].
template <size_t width, class T, class AddNext>
void sum_blocks(size_t count, size_t block, size_t part, std::span<T> sums,
                const AddNext& add_next) {
  Lanes32 wide[width] = {};
  for (size_t begin = 0; begin < count; begin += block) {
    Lanes16 narrow[width] = {};
    const size_t end = std::min(count, begin + block);
    for (size_t i = begin; i < end; ++i) add_next(i, narrow);
    for (size_t v = 0; v < width; ++v) wide[v] += __builtin_convertvector(narrow[v], Lanes32);
  }
  for (size_t v = 0; v < width; ++v) {
    for (size_t k = 0; k < lanes && (part + v) * lanes + k < sums.size(); ++k)
      sums[(part + v) * lanes + k] = T(wide[v][k]);
  }
}

// Splits a row's `width` vectors into groups that fit in registers: calls f(part, n), n constant.
template <class F>
void by_parts(size_t width, const F& f) {
  if (width == 1) return f(0, std::integral_constant<size_t, 1>());
  if (width == 2) return f(0, std::integral_constant<size_t, 2>());
  for (size_t part = 0; part < width; part += 4) f(part, std::integral_constant<size_t, 4>());
}

}  // namespace

std::optional<PackedRows> PackedRows::make(std::span<const double> rows, size_t size) {
  const size_t count = rows.size() / size;
  const double max = largest(rows);
  if (!whole_below(rows, 0, 4095) || max * double(count) > double(1 << 24)) return {};
  PackedRows packed;
  packed.width_ = vectors_of(size);
  packed.block_ = size_t(32767 / max);
  packed.rows_.resize((count * packed.width_ + 3) / 4);
  Lanes16* vectors = first_of(packed.rows_);
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < size; ++k)
      vectors[i * packed.width_ + k / lanes][k % lanes] = int16_t(rows[i * size + k]);
  }
  return packed;
}

void PackedRows::sum(std::span<const uint32_t> indices, std::span<float> sums) const {
  by_parts(width_, [&](size_t part, auto width) {
    const Lanes16* rows = first_of(rows_) + part;
    const size_t stride = width_;
    sum_blocks<width>(indices.size(), block_, part, sums, [&](size_t i, Lanes16* sum) {
      const Lanes16* row = rows + indices[i] * stride;
      for (size_t v = 0; v < width; ++v) sum[v] += row[v];
    });
  });
}

std::optional<SubsetSums> SubsetSums::make(std::span<const double> rows, size_t size) {
  const size_t count = rows.size() / size;
  if (!whole_below(rows, -1023, 1023) || count > size_t(1) << 20) return {};
  SubsetSums sums;
  const size_t groups = (count + 31) / 32 * 8;
  sums.width_ = vectors_of(size);
  sums.words_ = groups / 8;
  sums.block_ = size_t(32767 / (32 * largest(rows)));
  sums.subsets_.resize(groups * 4 * sums.width_);
  for (size_t group = 0; group < groups; ++group) {
    Lanes16* of_group = first_of(sums.subsets_) + group * 16 * sums.width_;
    for (size_t subset = 1; subset < 16; ++subset) {
      // The sum of a smaller subset plus one more row.
      const size_t bit = subset >= 8 ? 3 : subset >= 4 ? 2 : subset >= 2 ? 1 : 0;
      const size_t row = group * 4 + bit, before = subset - (size_t(1) << bit);
      for (size_t k = 0; k < size; ++k) {
        const int more = row < count ? int(rows[row * size + k]) : 0;
        const int sum = of_group[before * sums.width_ + k / lanes][k % lanes] + more;
        of_group[subset * sums.width_ + k / lanes][k % lanes] = int16_t(sum);
      }
    }
  }
  return sums;
}

void SubsetSums::sum(std::span<const uint32_t> bits, std::span<double> sums) const {
  by_parts(width_, [&](size_t part, auto width) {
    const Lanes16* subsets = first_of(subsets_) + part;
    const size_t stride = width_;
    sum_blocks<width>(words_, block_, part, sums, [&](size_t i, Lanes16* sum) {
      const Lanes16* group = subsets + i * 8 * 16 * stride;
      uint32_t word = bits[i];
      for (size_t g = 0; g < 8; ++g, group += 16 * stride, word >>= 4) {
        const Lanes16* subset = group + (word & 15) * stride;
        for (size_t v = 0; v < width; ++v) sum[v] += subset[v];
      }
    });
  });
}

}  // namespace tx
