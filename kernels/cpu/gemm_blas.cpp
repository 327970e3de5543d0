// f64 and f32 products through OpenBLAS, which is limited to one thread; our own loop splits c over
// the threads, so that OpenBLAS's pthread, OpenMP and serial builds behave the same.
#include <cblas.h>

#include <algorithm>
#include <mutex>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"
#include "lib/base/resources.h"

namespace tx::gemm {
namespace {

void one_thread() {
  static const bool done = (openblas_set_num_threads(1), true);
  (void)done;
}

// OpenBLAS retries for ever if it cannot allocate a call's buffer: so this throws bad_alloc first.
class Buffers {
 public:
  explicit Buffers(int calls) : calls_(calls) {
    const std::lock_guard guard(lock);
    const int wanted = in_use + calls;
    if (wanted > checked) require_memory(size_t(wanted - checked) * bytes);
    checked = std::max(checked, wanted);
    in_use = wanted;
  }
  ~Buffers() {
    const std::lock_guard guard(lock);
    in_use -= calls_;
  }
  Buffers(const Buffers&) = delete;

 private:
  static constexpr size_t bytes = size_t(130) << 20;  // 129 MiB in OpenBLAS 0.3.21
  inline static std::mutex lock;
  inline static int in_use = 0, checked = 0;
  const int calls_;
};

void gemm(const Product& p, int64_t m, int64_t n, int64_t k, const float* a, const float* b,
          float* c) {
  cblas_sgemm(CblasRowMajor, p.transpose_a ? CblasTrans : CblasNoTrans,
              p.transpose_b ? CblasTrans : CblasNoTrans, blasint(m), blasint(n), blasint(k), 1.0f,
              a, blasint(p.a.stride), b, blasint(p.b.stride), p.accumulate ? 1.0f : 0.0f, c,
              blasint(p.c.stride));
}

void gemm(const Product& p, int64_t m, int64_t n, int64_t k, const double* a, const double* b,
          double* c) {
  cblas_dgemm(CblasRowMajor, p.transpose_a ? CblasTrans : CblasNoTrans,
              p.transpose_b ? CblasTrans : CblasNoTrans, blasint(m), blasint(n), blasint(k), 1.0, a,
              blasint(p.a.stride), b, blasint(p.b.stride), p.accumulate ? 1.0 : 0.0, c,
              blasint(p.c.stride));
}

template <class T>
void finish(T* c, int64_t stride, int64_t rows, int64_t columns, const T* bias, bool relu) {
  for (int64_t i = 0; i < rows; i++) {
    T* y = c + i * stride;
    if (bias)
      for (int64_t j = 0; j < columns; j++) y[j] += bias[j];
    if (relu)
      for (int64_t j = 0; j < columns; j++) y[j] = y[j] < 0 ? T(0) : y[j];
  }
}

// Rows row .. row + rows - 1 and columns column .. of c.
template <class T>
void part(const Product& p, int64_t k, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  const T* a = static_cast<const T*>(p.a.data) + (p.transpose_a ? row : row * p.a.stride);
  const T* b = static_cast<const T*>(p.b.data) + (p.transpose_b ? column * p.b.stride : column);
  T* c = p.c.row<T>(row) + column;
  gemm(p, rows, columns, k, a, b, c);
  const T* bias = p.bias.empty() ? nullptr : static_cast<const T*>(p.bias.data) + column;
  const bool relu = p.activation == Activation::relu;
  if (bias || relu) finish(c, p.c.stride, rows, columns, bias, relu);
}

template <class T>
void split(const Product& p, int threads) {
  const ProductShape s = shape_of(p);
  // Splits the longer side of c, in multiples of 16, so that its kernels have whole tiles.
  const int64_t side = std::max(s.m, s.n);
  const int64_t chunk = ((side + threads - 1) / threads + 15) / 16 * 16;
#pragma omp parallel for num_threads(threads) schedule(static, 1) if (threads > 1)
  for (int t = 0; t < threads; t++) {
    const int64_t first = t * chunk, count = std::min(side - first, chunk);
    if (count <= 0) continue;
    if (s.m >= s.n)
      part<T>(p, s.k, first, count, 0, s.n);
    else
      part<T>(p, s.k, 0, s.m, first, count);
  }
}

}  // namespace

void blas_product(const Product& p, int threads) {
  one_thread();
  const Buffers buffers(threads);
  p.a.dtype == DType::f64 ? split<double>(p, threads) : split<float>(p, threads);
}

std::string blas_description() {
  // get_config: "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY Zen MAX_THREADS=64"
  const std::string config = openblas_get_config();
  const size_t name_end = config.find(' ');
  const size_t version_end = config.find(' ', name_end + 1);
  return config.substr(0, version_end) + ", kernels " + openblas_get_corename();
}

}  // namespace tx::gemm
