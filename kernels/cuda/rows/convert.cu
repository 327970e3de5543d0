#include "kernels/cuda/rows/pass.h"
#include "kernels/cuda/runtime/profile.h"

namespace tx {
namespace {

template <class From, class To>
struct Convert {
  static constexpr int at_once = 2;
  using Loaded = Octet<From>;
  Matrix from, to;
  bool packed;

  TX_DEVICE void load(int64_t i, int64_t column, int count, Loaded& in) const {
    in = read_octet(row_of<From>(from, i) + column, count, packed);
  }
  TX_DEVICE void finish(int64_t i, int64_t column, int count, const Loaded& in,
                        float (&value)[octet]) const {
    spread(in, value);
    write_octet(row_of<To>(to, i) + column, count, packed, octet_of<To>(value));
  }
};

}  // namespace

void Cuda::convert(Matrix from, Matrix to) {
  const Timed timed(*state_, "conversion", traffic(from, to));
  TX_ASSERT(from.rows == to.rows && from.cols == to.cols);
  with_type(from.dtype, [&](auto f) {
    with_type(to.dtype, [&](auto t) {
      const Convert<decltype(f), decltype(t)> op{from, to, all_packed(from, to)};
      pass(*state_, op, from.rows, from.cols);
    });
  });
}

}  // namespace tx
