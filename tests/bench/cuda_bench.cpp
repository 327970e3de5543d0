// Speed of the CUDA kernels at the shapes of the base model with 25,000 tokens per side: bytes that
// must be moved against the time taken, beside a plain copy of as many bytes in the same run, and
// products beside the fastest product of this run. Medians of several rounds.
//
//   cuda_bench [DIVISOR [GROUP]]    rows divided by DIVISOR (1), for a quick look
//
// Groups: products, rows, layers, attention, loss, optimiser, searches.
//
// Ends with 77 where there is no GPU.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "lib/base/philox.h"

#if TX_HAVE_CUDA
#include "kernels/cuda.h"
#include "kernels/cuda/runtime/clock.h"

using tx::DType;
using tx::Matrix;

namespace {

constexpr int64_t d_model = 512, d_ff = 2048, heads = 8, vocabulary = 37000, padded = 37120;
constexpr int64_t sentence = 27;                 // tokens of the average newstest sentence
constexpr int64_t parameter_count = 63'000'000;  // of the base model

class Bench {
 public:
  explicit Bench(int64_t divisor) : rows_(25000 / divisor), parameters_(parameter_count / divisor) {
    tx::StepRecord start;
    start.step = 1000, start.rate = 1e-4, start.loss_scale = 1e-3, start.clip_factor = 1;
    record_ = array(std::vector<tx::StepRecord>{start});
    std::vector<uint32_t> pair, position;
    for (int64_t i = 0; i < rows_; ++i) {
      pair.push_back(uint32_t(i / sentence));
      position.push_back(uint32_t(i % sentence));
    }
    drop_ = tx::dropout(0.1, 1, 7, record_, {array(pair), array(position)});
  }
  ~Bench() {
    for (void* p : memory_) cuda_.release(p);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  // Groups whose name contains `wanted`.
  void run(const std::string& wanted) {
    ceilings();
    const std::pair<const char*, void (Bench::*)()> groups[] = {
        {"products", &Bench::products}, {"rows", &Bench::products_of_decoding},
        {"layers", &Bench::layers},     {"attention", &Bench::attentions},
        {"loss", &Bench::losses},       {"optimiser", &Bench::optimiser},
        {"searches", &Bench::searches}};
    for (const auto& [name, group] : groups) {
      if (std::string(name).find(wanted) == std::string::npos) continue;
      const size_t kept = memory_.size();
      (this->*group)();
      for (; memory_.size() > kept; memory_.pop_back()) cuda_.release(memory_.back());
    }
  }

 private:
  // -- time
  double seconds(const std::function<void()>& work) {
    work();  // also chooses algorithms
    work();
    const double once = std::max(1e-6, tx::seconds_on_gpu(cuda_, work));
    const int times = int(std::clamp(0.01 / once, 1.0, 200.0));
    std::vector<double> rounds(once < 0.5 ? 7 : 1);
    for (double& r : rounds)
      r = tx::seconds_on_gpu(cuda_,
                             [&] {
                               for (int i = 0; i < times; ++i) work();
                             }) /
          times;
    std::sort(rounds.begin(), rounds.end());
    return rounds[rounds.size() / 2];
  }

  // Copies that read and write `bytes` together, in GB/s: small ones stay in the cache.
  double copy_speed(double bytes) {
    const size_t half = std::min(size_t(bytes / 2) + 16, copy_bytes_);
    const double s = seconds([&] { tx::copy_on_gpu(cuda_, copy_to_, copy_from_, half); });
    return 2 * double(half) / s * 1e-9;
  }

  void ceilings() {
    copy_bytes_ = size_t(512 << 20) / size_t(25000 / rows_);
    copy_from_ = allocate(copy_bytes_);
    copy_to_ = allocate(copy_bytes_);
    std::printf("%-44s %8.0f GB/s\n", "ceiling: copy of much", copy_speed(1e12));
    const int64_t n = rows_ > 8192 ? 8192 : 512;
    const Matrix a = matrix(n, n, DType::bf16), b = matrix(n, n, DType::bf16);
    const Matrix c = matrix(n, n, DType::bf16);
    const tx::Product p = product_of(a, b, c, false, true);
    flops_ = 2 * double(n) * double(n) * double(n) / seconds([&] { cuda_.product(p); }) * 1e-12;
    std::printf("%-44s %8.0f TFLOP/s\n\n", "ceiling: a large square product in bf16", flops_);
  }

  void moved(const std::string& name, double bytes, const std::function<void()>& work) {
    const double s = seconds(work), speed = bytes / s * 1e-9, copy = copy_speed(bytes);
    std::printf("%-44s %8.0f us %6.0f GB/s %4.0f %% of a copy\n", name.c_str(), s * 1e6, speed,
                100 * speed / copy);
    std::fflush(stdout);
  }
  void counted(const std::string& name, double flops, const std::function<void()>& work) {
    const double s = seconds(work), speed = flops / s * 1e-12;
    std::printf("%-44s %8.0f us %6.1f TFLOP/s %4.0f %% of the ceiling\n", name.c_str(), s * 1e6,
                speed, 100 * speed / flops_);
    std::fflush(stdout);
  }

  // -- memory
  void* allocate(size_t bytes) {
    memory_.push_back(cuda_.allocate(bytes));
    return memory_.back();
  }
  template <class T>
  T* array(const std::vector<T>& values) {
    void* p = allocate(values.size() * sizeof(T));
    cuda_.upload(p, values.data(), values.size() * sizeof(T));
    return static_cast<T*>(p);
  }
  // Values in [-1, 1), a pattern of a million over and over.
  Matrix matrix(int64_t rows, int64_t cols, DType t) {
    static const std::vector<float> random = [] {
      tx::PhiloxStream stream(1, 1);
      std::vector<float> values(1'000'003);
      for (float& x : values) x = float(2 * stream.uniform() - 1);
      return values;
    }();
    std::vector<uint16_t> halves;
    const char* from = reinterpret_cast<const char*>(random.data());
    if (t == DType::bf16) {
      for (const float x : random) {
        uint32_t u;
        std::memcpy(&u, &x, 4);
        halves.push_back(uint16_t(u >> 16));
      }
      from = reinterpret_cast<const char*>(halves.data());
    }
    const size_t pattern = random.size() * size_of(t), bytes = size_t(rows * cols) * size_of(t);
    char* data = static_cast<char*>(allocate(bytes));
    for (size_t at = 0; at < bytes; at += pattern)
      cuda_.upload(data + at, from, std::min(pattern, bytes - at));
    return tx::matrix(data, t, rows, cols);
  }
  Matrix half(int64_t rows, int64_t cols) { return matrix(rows, cols, DType::bf16); }
  Matrix single(int64_t rows, int64_t cols) { return matrix(rows, cols, DType::f32); }
  int32_t* ids(int64_t count, int64_t below) {
    tx::PhiloxStream stream(2, 2);
    std::vector<int32_t> values(static_cast<size_t>(count));
    for (int32_t& id : values) id = int32_t(stream.next() % uint64_t(below));
    return array(values);
  }
  static double size(const Matrix& m) { return double(m.rows * m.cols) * double(size_of(m.dtype)); }

  static tx::Product product_of(Matrix a, Matrix b, Matrix c, bool ta, bool tb) {
    tx::Product p;
    p.a = a, p.b = b, p.c = c, p.transpose_a = ta, p.transpose_b = tb;
    return p;
  }

  // -- groups
  void products() {
    for (const auto& [o, i] : {std::pair{d_model, d_model},
                               {3 * d_model, d_model},
                               {d_ff, d_model},
                               {d_model, d_ff},
                               {padded, d_model}}) {
      const Matrix x = half(rows_, i), y = half(rows_, o), w = half(o, i), dw = single(o, i);
      const double flops = 2 * double(rows_) * double(o) * double(i);
      const std::string shape =
          std::to_string(rows_) + " x " + std::to_string(o) + " x " + std::to_string(i);
      for (const auto& [kind, p] : {std::pair{"forward ", product_of(x, w, y, false, true)},
                                    {"input gradient ", product_of(y, w, x, false, false)},
                                    {"weight gradient ", product_of(y, x, dw, true, false)}}) {
        cuda_.plan_product(p);
        counted(kind + shape, flops, [&, q = p] { cuda_.product(q); });
      }
    }
  }

  void products_of_decoding() {
    for (const int64_t n : {4, 128, 1024})
      for (const auto& [o, i] :
           {std::pair{d_model, d_model}, {d_ff, d_model}, {vocabulary, d_model}}) {
        const Matrix x = half(n, i), y = half(n, o), bias = single(1, o);
        Matrix w = cuda_.prepare(half(o, i));
        moved("rows " + std::to_string(n) + " x " + std::to_string(o) + " x " + std::to_string(i),
              size(x) + size(y) + size(w),
              [&] { cuda_.matmul_invariant(x, w, bias, tx::Activation::none, y); });
        cuda_.release_prepared(w);
      }
  }

  void layers() {
    const Matrix x = half(rows_, d_model), y = half(rows_, d_model), z = half(rows_, d_model);
    const Matrix u = half(rows_, d_model), wide = half(rows_, d_ff), wider = half(rows_, d_ff);
    const Matrix gamma = single(1, d_model), beta = single(1, d_model), stats = single(rows_, 2);
    const Matrix table = half(vocabulary, d_model), dtable = single(vocabulary, d_model);
    const Matrix positions = single(1024, d_model), dbias = single(1, d_ff);
    const int32_t* words = ids(rows_, vocabulary);
    const int32_t* others = ids(rows_, rows_);
    const double pass = size(x);
    moved("embed", 2 * pass, [&] { cuda_.embed(words, table, 22.6, positions, drop_, x); });
    moved("embed_backward", pass * 5,
          [&] { cuda_.embed_backward(words, x, 22.6, drop_, dtable, {}); });
    moved("add_norm", 4 * pass,
          [&] { cuda_.add_norm(x, y, drop_, gamma, beta, 1e-6, z, u, stats); });
    tx::AddNormBackward b;
    b.dnormed = x, b.sum = z, b.stats = stats, b.gamma = gamma, b.dx = y, b.dsub = u;
    b.dgamma = gamma, b.dbeta = beta, b.add_x = true, b.drop = drop_;
    cuda_.add_norm(x, y, drop_, gamma, beta, 1e-6, z, u, stats);
    moved("add_norm_backward", 5 * pass, [&] { cuda_.add_norm_backward(b); });
    moved("activate (relu, dropout)", 2 * size(wide),
          [&] { cuda_.activate(wide, tx::Activation::relu, drop_, wider); });
    moved("activate_backward (relu, bias)", 3 * size(wide), [&] {
      cuda_.activate_backward(wide, wider, tx::Activation::relu, drop_, wide, dbias, false);
    });
    moved("column_sum", size(wide), [&] { cuda_.column_sum(wide, dbias, false); });
    moved("add", 3 * pass, [&] { cuda_.add(x, y); });
    moved("dropout_sum", 3 * pass, [&] { cuda_.dropout_sum(x, y, drop_, z); });
    moved("gather_rows", 2 * pass, [&] { cuda_.gather_rows(x, others, y); });
  }

  void attentions() {
    const int64_t sentences = rows_ / sentence, tokens = sentences * sentence;
    std::vector<int32_t> offsets;
    for (int64_t s = 0; s <= sentences; ++s) offsets.push_back(int32_t(s * sentence));
    const Matrix qkv = half(tokens, 3 * d_model), dqkv = half(tokens, 3 * d_model);
    const Matrix o = half(tokens, d_model), d_o = half(tokens, d_model);
    tx::Attention p;
    p.q = qkv.columns(0, d_model), p.k = qkv.columns(d_model, d_model);
    p.v = qkv.columns(2 * d_model, d_model), p.o = o;
    p.lse = single(tokens, heads).data;
    p.q_offsets = p.k_offsets = array(offsets);
    p.sentences = sentences, p.heads = p.kv_heads = int(heads), p.d_k = p.d_v = d_model / heads;
    p.scale = 0.125;
    tx::AttentionGradient g;
    g.d_o = d_o, g.dq = dqkv.columns(0, d_model), g.dk = dqkv.columns(d_model, d_model);
    g.dv = dqkv.columns(2 * d_model, d_model);
    for (const bool causal : {false, true}) {
      p.causal = causal;
      const std::string name = causal ? "causal attention" : "attention";
      moved(name, size(qkv) + size(o), [&] { cuda_.attention(p); });
      moved(name + " backward", 2 * size(qkv) + 2 * size(o),
            [&] { cuda_.attention_backward(p, g); });
    }
    const int64_t hypotheses = std::max<int64_t>(rows_ / 200, 4);
    std::vector<int32_t> first, lengths;
    for (int64_t r = 0; r < hypotheses; ++r) {
      first.push_back(int32_t(r * 30));
      lengths.push_back(30);
    }
    tx::CachedAttention c;
    c.q = half(hypotheses, d_model), c.o = half(hypotheses, d_model);
    c.k = half(hypotheses * 30, d_model), c.v = half(hypotheses * 30, d_model);
    c.first = array(first), c.lengths = array(lengths);
    c.heads = c.kv_heads = int(heads), c.d_k = c.d_v = d_model / heads, c.scale = 0.125;
    moved("attention_cached, " + std::to_string(hypotheses) + " rows, 30 keys",
          size(c.k) + size(c.v), [&] { cuda_.attention_cached(c); });
  }

  void losses() {
    const Matrix logits = half(rows_, padded);
    const int32_t* labels = ids(rows_, vocabulary);
    const double once = double(rows_ * vocabulary) * 2;
    for (const bool gradient : {false, true})
      moved(gradient ? "cross_entropy with gradient" : "cross_entropy", gradient ? 2 * once : once,
            [&] { cuda_.cross_entropy(logits, labels, vocabulary, 0.1, gradient, record_); });
  }

  void optimiser() {
    const Matrix w = single(1, parameters_), g = single(1, parameters_), m = single(1, parameters_);
    const Matrix v = single(1, parameters_), copy = half(1, parameters_);
    const int64_t blocks = tx::norm_blocks(parameters_);
    const Matrix squares = tx::matrix(allocate(size_t(blocks) * 8), DType::f64, 1, blocks);
    moved("gradient_norm", size(g), [&] {
      cuda_.square_sums(g, squares);
      cuda_.gradient_norm(squares, record_);
    });
    // The losses above have left their sums in the record: without them no update is held back.
    tx::StepRecord start;
    start.step = 1000, start.rate = 1e-4, start.clip_factor = 1;
    cuda_.upload(record_, &start, sizeof start);
    moved("adam with a bf16 copy", 7 * size(w) + size(copy),
          [&] { cuda_.adam(w, g, m, v, copy, parameters_ / 2, {}, record_); });
    moved("convert to bf16", size(w) + size(copy), [&] { cuda_.convert(w, copy); });
    moved("zero", size(w), [&] { cuda_.zero(w.data, size_t(size(w))); });
  }

  void searches() {
    for (const DType t : {DType::bf16, DType::f32})
      for (const int64_t n : {4, 128, 4096}) {
        const Matrix logits = matrix(n, padded, t), out = single(n, vocabulary);
        auto* values = static_cast<float*>(allocate(size_t(n) * 8 * 4));
        auto* best = static_cast<int32_t*>(allocate(size_t(n) * 8 * 4));
        const std::string shape = (t == DType::bf16 ? ", bf16, " : ", f32, ") + std::to_string(n);
        const double once = double(n * vocabulary) * double(size_of(t));
        moved("log_softmax_topk, k 8" + shape, once,
              [&] { cuda_.log_softmax_topk(logits, vocabulary, 8, values, best); });
        moved("log_softmax" + shape, once + size(out),
              [&] { cuda_.log_softmax(logits, vocabulary, out); });
      }
  }

  tx::Cuda cuda_;
  int64_t rows_, parameters_;
  std::vector<void*> memory_;
  tx::StepRecord* record_ = nullptr;
  tx::Dropout drop_;
  void *copy_from_ = nullptr, *copy_to_ = nullptr;
  size_t copy_bytes_ = 0;
  double flops_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  const std::string reason = tx::no_gpu_reason();
  if (!reason.empty()) {
    std::fprintf(stderr, "skipped: %s\n", reason.c_str());
    return 77;
  }
  std::printf("%s", tx::Cuda::describe().c_str());
  Bench(argc > 1 ? std::max(1, std::atoi(argv[1])) : 1).run(argc > 2 ? argv[2] : "");
  return 0;
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
