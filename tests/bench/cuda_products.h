// The products of cuda_bench: those of a training step without and with tuning, and those of
// decoding with every tile of our own kernels.
#pragma once
#include "kernels/cuda/products/tiles.h"
#include "tests/bench/cuda_measure.h"

namespace tx_test {

inline std::string shape_of(int64_t m, int64_t n, int64_t k) {
  return std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k);
}

// A weight (O,I) with three products: y = x w^T with the layer's epilogue, dx = dy w, dw = dy^T x.
struct Weight {
  const char* name;
  int64_t outputs, inputs;
  bool bias = false, relu = false;
};

// Compares the library's first algorithm with the one that --tune selects.
inline void products(Measure& m, int64_t d) {
  tx::Cuda tuned;
  tuned.set_tuning("measure");
  std::printf("%-46s %11s %18s   with --tune\n", ("products, d_model " + std::to_string(d)).c_str(),
              "", "");
  const auto line = [&](const std::string& name, const tx::Product& p, double flops) {
    m.cuda.plan_product(p);
    tuned.plan_product(p);
    const double first = m.seconds([&] { m.cuda.product(p); });
    const double best = m.seconds(tuned, [&] { tuned.product(p); });
    std::printf("%-46s %8.1f us %6.1f TFLOP/s   %8.1f us %6.1f TFLOP/s %4.0f %% of the ceiling\n",
                name.c_str(), first * 1e6, flops / first * 1e-12, best * 1e6, flops / best * 1e-12,
                100 * m.share_of_ceiling(flops, best));
    std::fflush(stdout);
  };
  const Weight weights[] = {{"attention out ", d, d},
                            {"q, k, v ", 3 * d, d},
                            {"cross k, v of all layers ", 12 * d, d},
                            {"FFN in ", 4 * d, d, true, true},
                            {"FFN out ", d, 4 * d, true},
                            {"logits ", m.padded, d}};
  for (const Weight& w : weights) {
    const size_t held = m.held();
    const int64_t o = w.outputs, i = w.inputs;
    const tx::Matrix x = m.half(m.rows, i), y = m.half(m.rows, o), weight = m.half(o, i);
    const tx::Matrix dw = m.single(o, i);
    const double flops = 2 * double(m.rows) * double(o) * double(i);
    tx::Product forward = Measure::product_of(x, weight, y, false, true);
    if (w.bias) forward.bias = m.single(1, o);
    if (w.relu) forward.activation = tx::Activation::relu;
    line(w.name + shape_of(m.rows, o, i), forward, flops);
    line("  dX " + shape_of(m.rows, i, o), Measure::product_of(y, weight, x, false, false), flops);
    line("  dW " + shape_of(o, i, m.rows), Measure::product_of(y, x, dw, true, false), flops);
    m.release_from(held);
  }
}

// matmul_invariant() with the tile that it selects for this number of rows, then with each tile by
// its number in kernels/cuda/products/gemm.h.
inline void tiles(Measure& m, tx::DType dtype, int64_t d) {
  const int count = tx::cuda::tile_count(dtype);
  std::printf("%-46s %8s us", dtype == tx::DType::bf16 ? "tiles, bf16" : "tiles, fp32", "taken");
  for (int tile = 0; tile < count; ++tile) std::printf(" %8d", tile);
  std::printf("\n");
  for (const int64_t n :
       {m.few(4096), m.few(128), m.few(4)}) {  // a profiler sees the largest first
    const std::pair<int64_t, int64_t> weights[] = {
        {d, d}, {3 * d, d}, {4 * d, d}, {d, 4 * d}, {m.padded, d}};
    for (const auto& [o, i] : weights) {
      const size_t held = m.held();
      const tx::Matrix x = m.matrix(n, i, dtype), y = m.matrix(n, o, dtype);
      const tx::Matrix w = m.cuda.prepare(m.matrix(o, i, dtype)), bias = m.single(1, o);
      const auto with = [&](int tile) {
        return m.seconds([&] {
          tx::cuda::matmul_invariant(m.cuda.state(), x, w, bias, tx::Activation::none, y, tile);
        });
      };
      const double s = with(tx::cuda::best);
      std::printf("%-46s %8.1f us", ("rows " + shape_of(n, o, i)).c_str(), s * 1e6);
      for (int tile = 0; tile < count; ++tile) std::printf(" %8.1f", with(tile) * 1e6);
      const double bytes = Measure::size(x) + Measure::size(y) + Measure::size(w);
      std::printf("  %.0f GB/s, %.1f TFLOP/s\n", bytes / s * 1e-9,
                  2 * double(n) * double(o) * double(i) / s * 1e-12);
      std::fflush(stdout);
      m.release_from(held);
    }
  }
}

}  // namespace tx_test
