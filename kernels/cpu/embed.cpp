#include <cstring>
#include <vector>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/profile.h"
#include "kernels/cpu/random.h"

namespace tx {
namespace {

bool is_blank(const Blank& blank, int32_t id, int64_t row) {
  return id == blank.id || (blank.rows && blank.rows[row]);
}

template <class T>
TX_CLONES void embed_rows(const int32_t* ids, const Blank& blank, Matrix table, double scale,
                          Matrix positions, const Dropout& drop, Matrix out, int threads) {
  using A = acc_t<T>;
  const int64_t d = out.cols;
  const std::vector<A> none(positions.empty() ? size_t(d) : 0);
  const MaskRows masks(drop, d, threads);
#pragma omp parallel num_threads(threads)
  {
    const MaskRow mask = masks.mine();
#pragma omp for
    for (int64_t i = 0; i < out.rows; ++i) {
      T* y = out.row<T>(i);
      if (ids[i] < 0) {
        std::memset(static_cast<void*>(y), 0, size_t(d) * sizeof(T));
        continue;
      }
      const T* e = table.row<T>(ids[i]);
      const A factor = is_blank(blank, ids[i], i) ? A(0) : A(scale);
      const A* p = positions.empty() ? none.data() : positions.row<A>(drop.keys.position[i]);
      with_mask<A>(drop, mask.draw(i), [=](auto kept) TX_INLINE_LAMBDA {
        for (int64_t j = 0; j < d; ++j) store(y[j], kept(j, load(e[j]) * factor + p[j]));
      });
    }
  }
}

// Rows of 8-bit weights, for inference.
void embed_int8(const int32_t* ids, const Blank& blank, const Int8Weights& table, double scale,
                Matrix positions, const Dropout& drop, Matrix out, int threads) {
  TX_ASSERT(drop.threshold == 0 && out.dtype == DType::f32);
  const std::vector<float> none(positions.empty() ? size_t(out.cols) : 0);
  const ThreadRows<float> rows(threads, out.cols);
#pragma omp parallel num_threads(threads)
  {
    float* const row = rows.mine();
#pragma omp for
    for (int64_t i = 0; i < out.rows; ++i) {
      restore_row(table, ids[i], row);
      const float* p =
          positions.empty() ? none.data() : positions.row<float>(drop.keys.position[i]);
      float* y = out.row<float>(i);
      const float factor = is_blank(blank, ids[i], i) ? 0 : float(scale);
      for (int64_t j = 0; j < out.cols; ++j) y[j] = row[j] * factor + p[j];
    }
  }
}

// Each thread owns the ids congruent to its number, so sums are in row order for any number.
template <class T>
TX_CLONES void add_rows(const int32_t* ids, const Blank& blank, Matrix dout, double scale,
                        const Dropout& drop, Matrix dtable, int threads) {
  using A = acc_t<T>;
  const int64_t d = dout.cols;
  const MaskRows masks(drop, d, threads);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int part = 0; part < threads; ++part) {
    const MaskRow mask = masks.mine();
    for (int64_t i = 0; i < dout.rows; ++i) {
      if (ids[i] < 0 || ids[i] % threads != part || is_blank(blank, ids[i], i)) continue;
      const T* g = dout.row<T>(i);
      A* to = dtable.row<A>(ids[i]);
      with_mask<A>(drop, mask.draw(i), [=](auto kept) TX_INLINE_LAMBDA {
        for (int64_t j = 0; j < d; ++j) to[j] += kept(j, load(g[j]) * A(scale));
      });
    }
  }
}

}  // namespace

void Cpu::embed(const int32_t* ids, const Blank& blank, Matrix table, double scale,
                Matrix positions, const Dropout& drop, Matrix out) {
  const Timed timed(profile_.get(), "embedding", traffic(out));
  if (table.empty()) {
    const Int8Weights* weights = gemm::int8_of(table);
    TX_ASSERT(weights);
    return embed_int8(ids, blank, *weights, scale, positions, drop, out, threads);
  }
  with_type(out.dtype, [&](auto t) {
    embed_rows<decltype(t)>(ids, blank, table, scale, positions, drop, out, threads);
  });
}

void Cpu::embed_backward(const int32_t* ids, const int32_t* /*by_id*/, const Blank& blank,
                         Matrix dout, double scale, const Dropout& drop, Matrix dtable,
                         Matrix dpositions) {
  const Timed timed(profile_.get(), "embedding, backward", traffic(dout));
  with_type(dout.dtype, [&](auto t) {
    add_rows<decltype(t)>(ids, blank, dout, scale, drop, dtable, threads);
    if (dpositions.empty()) return;
    const auto* positions = reinterpret_cast<const int32_t*>(drop.keys.position);
    add_rows<decltype(t)>(positions, {}, dout, 1, drop, dpositions, threads);
  });
}

}  // namespace tx
