// Speed of the products, alternated within one run, best of several rounds, in GFLOP/s. Times on a
// shared machine are noisy: compare columns, not runs. Arguments: threads (2), rounds (7), part
// (all).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

using tx::DType;
using tx::Matrix;
using tx::Product;

namespace {

struct Column {
  std::string name;
  std::function<void()> work;  // empty: not supported here
  double best = 1e9;
};

double seconds(const std::function<void()>& f, int times) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; i++) f();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / times;
}

// The columns take turns, so that a busy period of the machine affects all of them.
void measure(const std::string& label, double flops, int rounds, std::vector<Column> columns) {
  std::printf("%-34s", label.c_str());
  for (Column& c : columns) {
    if (c.work) c.work();
  }
  for (int round = 0; round < rounds; round++) {
    for (Column& c : columns) {
      const int times = int(std::clamp(0.01 / std::min(c.best, 1.0), 1.0, 10000.0));
      if (c.work) c.best = std::min(c.best, seconds(c.work, times));
    }
  }
  for (const Column& c : columns) {
    if (c.work) std::printf("  %s %.0f", c.name.c_str(), flops / c.best * 1e-9);
  }
  std::printf("\n");
  std::fflush(stdout);
}

struct Block {
  tx::gemm::Buffer memory;
  Matrix m;
  Block(DType t, int64_t rows, int64_t cols, int64_t stride)
      : memory(tx::gemm::aligned(size_t(rows * stride) * size_of(t))),
        m(tx::matrix(memory.get(), t, rows, cols)) {
    m.stride = stride;
    for (int64_t i = 0; i < rows; i++) {
      for (int64_t j = 0; j < cols; j++) {
        const float x = float((i * 131 + j * 71) % 257) / 128 - 1;
        tx::with_type(t, [&](auto zero) { tx::store(m.row<decltype(zero)>(i)[j], x); });
      }
    }
  }
};

struct Bench {
  int threads, rounds;

  Column library(const char* name, const Product& p, bool onednn, tx::gemm::OneDnn& dnn,
                 tx::gemm::Scratch& scratch) const {
    Column c{name, nullptr};
    const bool half = p.a.dtype == DType::bf16;
    if (onednn && !(half ? tx::gemm::OneDnn::has_avx512() : tx::gemm::OneDnn::built_in())) return c;
    if (!onednn && half) return c;
    if (!onednn) c.work = [=, n = threads] { tx::gemm::blas_product(p, n); };
    if (onednn) c.work = [=, &dnn, &scratch, n = threads] { dnn.run(p, n, scratch); };
    return c;
  }

  void training(const char* kind, DType t, const Product& p) const {
    tx::gemm::OneDnn dnn;
    tx::gemm::Scratch scratch, own;
    tx::Cpu cpu(threads);
    const tx::ProductShape s = tx::shape_of(p);
    const std::string label = std::string(kind) + (t == DType::bf16 ? " bf16 " : " f32 ") +
                              std::to_string(s.m) + "x" + std::to_string(s.n) + "x" +
                              std::to_string(s.k);
    std::vector<Column> columns = {
        {"product", [&] { cpu.product(p); }},
        {"own", [&] { tx::gemm::own_product(p, tx::gemm::best_isa(), threads, own); }},
        library("oneDNN", p, true, dnn, scratch),
        library("OpenBLAS", p, false, dnn, scratch),
    };
    measure(label, 2.0 * double(s.m) * double(s.n) * double(s.k), rounds, columns);
  }

  // The three products of a layer of weights (o, i), of which w is `wider` times as wide as i.
  void layer(DType t, int64_t n, int64_t o, int64_t i, int64_t gap) const {
    Block x(t, n, i, i), w(t, o, i, i), y(t, n, o, o + gap), dw(DType::f32, o, i, i);
    Block bias(DType::f32, 1, o, o);
    Product p;
    p.a = x.m, p.b = w.m, p.c = y.m, p.transpose_b = true, p.bias = bias.m;
    training("forward", t, p);
    p = {};
    p.a = y.m, p.b = w.m, p.c = x.m;
    training("input", t, p);
    p = {};
    p.a = y.m, p.b = x.m, p.c = dw.m, p.transpose_a = true;
    training("weight", t, p);
    p.accumulate = true;
    training("weight+", t, p);
  }

  void decoding(DType t, int64_t n, int64_t o, int64_t i) const {
    Block x(t, n, i, i), w(t, o, i, i), y(t, n, o, o);
    tx::gemm::OneDnn dnn;
    tx::gemm::Scratch scratch;
    Product p;
    p.a = x.m, p.b = w.m, p.c = y.m, p.transpose_b = true;
    Matrix packed = tx::gemm::pack(w.m, tx::gemm::best_isa());
    Matrix lower = tx::gemm::pack(w.m, tx::gemm::Isa::avx2);
    const auto rows = [&](const Matrix& m) {
      tx::gemm::packed_product(x.m, m, {}, tx::Activation::none, y.m, threads, scratch);
    };
    const std::string label = std::string("rows ") + (t == DType::bf16 ? "bf16 " : "f32 ") +
                              std::to_string(n) + "x" + std::to_string(o) + "x" + std::to_string(i);
    measure(label, 2.0 * double(n) * double(o) * double(i), rounds,
            {{"own", [&] { rows(packed); }},
             {"own(AVX2)", [&] { rows(lower); }},
             library("oneDNN", p, true, dnn, scratch),
             library("OpenBLAS", p, false, dnn, scratch)});
    tx::gemm::release_packed(packed);
    tx::gemm::release_packed(lower);
  }

  // Every instruction set for 8-bit weights that the processor has; the time includes quantising x.
  void int8(int64_t n, int64_t o, int64_t i) const {
    Block x(DType::f32, n, i, i), w(DType::f32, o, i, i), y(DType::f32, n, o, o);
    const tx::WeightRows rows{o, i, [&](int64_t first, int64_t count, float* to) {
                                std::copy_n(w.m.row<float>(first), count * i, to);
                              }};
    Matrix packed = tx::gemm::pack(rows, DType::i8, tx::gemm::best_isa(), threads);
    const tx::gemm::Buffer scratch(tx::gemm::aligned(tx::gemm::int8_scratch_bytes(n, i)));
    std::vector<Column> columns;
    for (int isa = 0; isa <= int(tx::gemm::best_int8_isa()); isa++) {
      if (isa == int(tx::gemm::Int8Isa::avx_vnni) && !tx::gemm::has_avx_vnni()) continue;
      const tx::gemm::Int8Micro& micro = tx::gemm::int8_micro(tx::gemm::Int8Isa(isa));
      columns.push_back({micro.name, [&, this] {
                           tx::gemm::int8_product({x.m,
                                                   {},
                                                   y.m,
                                                   false,
                                                   *tx::gemm::int8_of(packed),
                                                   static_cast<char*>(scratch.get())},
                                                  micro, threads);
                         }});
    }
    measure("rows int8 " + std::to_string(n) + "x" + std::to_string(o) + "x" + std::to_string(i),
            2.0 * double(n) * double(o) * double(i), rounds, columns);
    tx::gemm::release_packed(packed);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const Bench bench{argc > 1 ? std::atoi(argv[1]) : 2, argc > 2 ? std::atoi(argv[2]) : 7};
  const std::string part = argc > 3 ? argv[3] : "all";  // training | rows | int8
  std::printf("%s%d threads, GFLOP/s\n", tx::Cpu::describe().c_str(), bench.threads);
  for (const int64_t n : {1, 4, 8, 12, 16, 32, 64, 128, 1024}) {
    if (part == "training" || part == "rows") break;
    bench.int8(n, 512, 512), bench.int8(n, 2048, 512);
    bench.int8(n, 512, 2048), bench.int8(n, 8000, 512);
  }
  if (part == "int8") return 0;
  const int64_t base[][2] = {{512, 512},  {1536, 512}, {2048, 512}, {512, 2048},
                             {8000, 512}, {384, 128},  {128, 128},  {256, 128},
                             {128, 256},  {1024, 128}, {8000, 128}};
  for (const DType t : {DType::bf16, DType::f32}) {
    if (part != "rows") {
      for (const auto& s : base) bench.layer(t, 4096, s[0], s[1], 0);
      bench.layer(t, 4096, 512, 512, 1024);
      bench.layer(t, 4096, 128, 128, 256);
    }
    if (part == "training") continue;
    for (const int64_t n : {1, 4, 8, 16, 32, 64, 128, 1024, 4096}) {
      bench.decoding(t, n, 512, 512), bench.decoding(t, n, 2048, 512);
      bench.decoding(t, n, 512, 2048), bench.decoding(t, n, 8000, 512);
    }
  }
}
