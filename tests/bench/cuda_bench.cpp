// Speed of the CUDA kernels at the shapes of the base model with 25,000 tokens per side; products
// also at those of big. Kernels are compared with a plain copy of the bytes that they must move,
// products with a large product, in the same run. Medians of several rounds.
//
//   cuda_bench [DIVISOR [GROUP...]]    divides rows and vocabulary by DIVISOR (1), for a quick
//                                      look; from 100 on, also d_model of products by 8
//
// Groups: products and big_products (without and with --tune), tiles and fp32_tiles (of our own
// kernels), layers, attention, cached, loss, optimiser, searches. Default: all.
//
// Status 1: a group failed, which does not stop the others; 77: there is no GPU.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/backend.h"

#if TX_HAVE_CUDA
#include "tests/bench/cuda_products.h"

using tx::DType;
using tx::Matrix;

namespace {

constexpr int64_t d_model = 512, d_ff = 2048, heads = 8;
constexpr int64_t sentence = 27;                 // tokens of the average newstest sentence
constexpr int64_t parameter_count = 63'000'000;  // of the base model

class Bench : tx_test::Measure {
 public:
  explicit Bench(int64_t divisor) : Measure(divisor), parameters_(parameter_count / divisor) {
    tx::StepRecord start;
    start.step = 1000, start.rate = 1e-4, start.loss_scale = 1e-3, start.clip_factor = 1;
    record_ = array(std::vector<tx::StepRecord>{start});
    std::vector<uint32_t> pair, position;
    for (int64_t i = 0; i < rows; ++i) {
      pair.push_back(uint32_t(i / sentence));
      position.push_back(uint32_t(i % sentence));
    }
    drop_ = tx::dropout(0.1, 1, 7, record_, {array(pair), array(position)});
  }

  // Runs the groups `wanted`, or all if there are none; returns whether none failed.
  bool run(const std::vector<std::string>& wanted) {
    bool good = attempt("ceilings", &Bench::ceilings);
    const std::pair<const char*, void (Bench::*)()> groups[] = {
        {"products", &Bench::products},   {"big_products", &Bench::big_products},
        {"tiles", &Bench::tiles},         {"fp32_tiles", &Bench::fp32_tiles},
        {"layers", &Bench::layers},       {"attention", &Bench::attentions},
        {"cached", &Bench::cached},       {"loss", &Bench::losses},
        {"optimiser", &Bench::optimiser}, {"searches", &Bench::searches}};
    for (const auto& [name, group] : groups) {
      if (!wanted.empty() && std::ranges::find(wanted, name) == wanted.end()) continue;
      const size_t before = held();
      if (!attempt(name, group)) good = false;
      release_from(before);
    }
    return good;
  }

 private:
  bool attempt(const char* name, void (Bench::*group)()) try {
    (this->*group)();
    return true;
  } catch (const std::exception& e) {
    std::printf("FAILED %s: %s\n", name, e.what());
    std::fflush(stdout);
    return false;
  }

  void products() { tx_test::products(*this, width(d_model)); }
  void big_products() { tx_test::products(*this, width(2 * d_model)); }
  void tiles() { tx_test::tiles(*this, DType::bf16, width(d_model)); }
  void fp32_tiles() { tx_test::tiles(*this, DType::f32, width(d_model)); }

  void layers() {
    const Matrix x = half(rows, d_model), y = half(rows, d_model), z = half(rows, d_model);
    const Matrix u = half(rows, d_model), wide = half(rows, d_ff), wider = half(rows, d_ff);
    const Matrix gamma = single(1, d_model), beta = single(1, d_model), stats = single(rows, 2);
    const Matrix table = half(vocabulary, d_model), dtable = single(vocabulary, d_model);
    const Matrix positions = single(1024, d_model), dbias = single(1, d_ff);
    const int32_t* words = ids(rows, vocabulary);
    const int32_t* others = ids(rows, rows);
    const double pass = size(x);
    moved("embed", 2 * pass, [&] { cuda.embed(words, {}, table, 22.6, positions, drop_, x); });
    moved("embed_backward", pass * 5,
          [&] { cuda.embed_backward(words, nullptr, {}, x, 22.6, drop_, dtable, {}); });
    moved("add_norm", 4 * pass, [&] {
      cuda.add_norm({x, y, drop_, gamma, beta, 1e-6, z, u, stats});
    });
    tx::AddNormBackward b;
    b.dnormed = x, b.sum = z, b.stats = stats, b.gamma = gamma, b.dx = y, b.dsub = u;
    b.dgamma = gamma, b.dbeta = beta, b.add_x = true, b.drop = drop_;
    cuda.add_norm({x, y, drop_, gamma, beta, 1e-6, z, u, stats});
    moved("add_norm_backward", 5 * pass, [&] { cuda.add_norm_backward(b); });
    moved("activate (relu, dropout)", 2 * size(wide),
          [&] { cuda.activate(wide, tx::Activation::relu, drop_, wider); });
    moved("activate_backward (relu, bias)", 3 * size(wide), [&] {
      cuda.activate_backward(wide, wider, tx::Activation::relu, drop_, wide, dbias, false);
    });
    moved("column_sum", size(wide), [&] { cuda.column_sum(wide, dbias, false); });
    moved("add", 3 * pass, [&] { cuda.add(x, y); });
    moved("dropout_sum", 3 * pass, [&] { cuda.dropout_sum(x, y, drop_, z); });
    moved("gather_rows", 2 * pass, [&] { cuda.gather_rows(x, others, y); });
  }

  // Sentences of `shortest` to `longest` tokens, with about the same number of each length.
  void attentions(int64_t shortest, int64_t longest) {
    std::vector<int32_t> offsets{0};
    for (int64_t length = shortest; offsets.back() + length <= rows;
         length = length < longest ? length + 1 : shortest)
      offsets.push_back(offsets.back() + int32_t(length));
    const int64_t tokens = offsets.back();
    const Matrix qkv = half(tokens, 3 * d_model), dqkv = half(tokens, 3 * d_model);
    const Matrix o = half(tokens, d_model), d_o = half(tokens, d_model);
    tx::Attention p;
    p.q = qkv.columns(0, d_model), p.k = qkv.columns(d_model, d_model);
    p.v = qkv.columns(2 * d_model, d_model), p.o = o;
    p.lse = single(tokens, heads).data;
    p.q_offsets = p.k_offsets = array(offsets);
    p.sentences = int64_t(offsets.size()) - 1;
    p.heads = p.kv_heads = int(heads), p.d_k = p.d_v = d_model / heads;
    p.scale = 0.125;
    tx::AttentionGradient g;
    g.d_o = d_o, g.dq = dqkv.columns(0, d_model), g.dk = dqkv.columns(d_model, d_model);
    g.dv = dqkv.columns(2 * d_model, d_model);
    const std::string of =
        shortest == longest ? " of " + std::to_string(shortest)
                            : " of " + std::to_string(shortest) + " to " + std::to_string(longest);
    for (const bool causal : {false, true}) {
      p.causal = causal;
      const std::string name = (causal ? "causal attention" : "attention") + of;
      moved(name, size(qkv) + size(o), [&] { cuda.attention(p); });
      moved(name + ", backward", 2 * size(qkv) + 2 * size(o),
            [&] { cuda.attention_backward(p, g); });
    }
  }
  void attentions() {
    attentions(sentence, sentence);
    attentions(6, 48);
    attentions(100, 100);
  }

  // Decoding: 15 keys per row by index, and 30 keys of a source shared by the four rows of a beam.
  void cached() {
    constexpr int64_t beam = 4, steps = 15, source = 30;
    for (const int64_t n : {few(4096), few(128), few(4)}) {  // a profiler sees the largest first
      const size_t before = held();
      std::vector<int32_t> index, first, own(size_t(n), steps), shared(size_t(n), source);
      for (int64_t r = 0; r < n; ++r) {
        for (int64_t j = 0; j < steps; ++j) index.push_back(int32_t(j * n + r));
        first.push_back(int32_t(r / beam * source));
      }
      const int64_t slots = n * steps, keys = (n + beam - 1) / beam * source;
      tx::CachedAttention c;
      c.q = half(n, d_model), c.o = half(n, d_model);
      c.heads = c.kv_heads = int(heads), c.d_k = c.d_v = d_model / heads, c.scale = 0.125;
      c.k = half(slots, d_model), c.v = half(slots, d_model);
      c.own_k = half(n, d_model), c.own_v = half(n, d_model);
      c.index = array(index), c.index_stride = steps, c.lengths = array(own);
      const std::string rows_of = "attention_cached, " + std::to_string(n) + " rows, ";
      moved(rows_of + std::to_string(steps) + " keys by a list", size(c.k) + size(c.v),
            [&] { cuda.attention_cached(c); });
      c.k = half(keys, d_model), c.v = half(keys, d_model);
      c.own_k = c.own_v = Matrix();
      c.index = nullptr, c.first = array(first), c.lengths = array(shared);
      moved(rows_of + std::to_string(source) + " of the source", size(c.k) + size(c.v),
            [&] { cuda.attention_cached(c); });
      release_from(before);
    }
  }

  void losses() {
    const Matrix logits = half(rows, padded);
    const int32_t* labels = ids(rows, vocabulary);
    const double once = double(rows * vocabulary) * 2;
    for (const bool gradient : {false, true})
      moved(gradient ? "cross_entropy with gradient" : "cross_entropy", gradient ? 2 * once : once,
            [&] { cuda.cross_entropy(logits, labels, vocabulary, 0.1, gradient, record_); });
  }

  void optimiser() {
    const Matrix w = single(1, parameters_), g = single(1, parameters_), m = single(1, parameters_);
    const Matrix v = single(1, parameters_), copy = half(1, parameters_);
    const int64_t blocks = tx::norm_blocks(parameters_);
    const Matrix squares = tx::matrix(allocate(size_t(blocks) * 8), DType::f64, 1, blocks);
    moved("gradient_norm", size(g), [&] {
      cuda.square_sums(g, squares);
      cuda.gradient_norm(squares, record_);
    });
    // Clears the sums of the losses above, so that no update is held back.
    tx::StepRecord start;
    start.step = 1000, start.rate = 1e-4, start.clip_factor = 1;
    cuda.upload(record_, &start, sizeof start);
    moved("adam with a bf16 copy", 7 * size(w) + size(copy),
          [&] { cuda.adam(w, g, m, v, copy, parameters_ / 2, {}, record_); });
    moved("convert to bf16", size(w) + size(copy), [&] { cuda.convert(w, copy); });
    moved("zero", size(w), [&] { cuda.zero(w.data, size_t(size(w))); });
  }

  void searches() {
    for (const DType t : {DType::bf16, DType::f32})
      for (const int64_t n : {few(4), few(128), few(4096)}) {
        const Matrix logits = matrix(n, padded, t), out = single(n, vocabulary);
        auto* values = static_cast<float*>(allocate(size_t(n) * 8 * 4));
        auto* best = static_cast<int32_t*>(allocate(size_t(n) * 8 * 4));
        const std::string shape = (t == DType::bf16 ? ", bf16, " : ", f32, ") + std::to_string(n);
        const double once = double(n * vocabulary) * double(size_of(t));
        moved("log_softmax_topk, k 8" + shape, once,
              [&] { cuda.log_softmax_topk(logits, vocabulary, 8, values, best); });
        moved("log_softmax" + shape, once + size(out),
              [&] { cuda.log_softmax(logits, vocabulary, out); });
      }
  }

  int64_t parameters_;
  tx::StepRecord* record_ = nullptr;
  tx::Dropout drop_;
};

}  // namespace

int main(int argc, char** argv) try {
  const std::string reason = tx::no_gpu_reason();
  if (!reason.empty()) {
    std::fprintf(stderr, "skipped: %s\n", reason.c_str());
    return 77;
  }
  std::printf("%s", tx::Cuda::describe().c_str());
  Bench bench(argc > 1 ? std::max(1, std::atoi(argv[1])) : 1);
  return bench.run({argv + std::min(argc, 2), argv + argc}) ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "cuda_bench: %s\n", e.what());
  return 1;
}

#else
int main() {
  std::fprintf(stderr, "skipped: %s\n", tx::no_gpu_reason().c_str());
  return 77;
}
#endif
