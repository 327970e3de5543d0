// The matrix products of Cuda: checks, and the choice between cuBLASLt and our own.
#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/cuda/products/blaslt.h"
#include "kernels/cuda/products/gemm.h"
#include "kernels/cuda/runtime/octet.h"
#include "kernels/cuda/runtime/profile.h"

namespace tx {
namespace cuda {

Sums sums_of(const Product& p) {
  const ProductShape s = shape_of(p);
  const auto side = [](const Matrix& x, int64_t rows, bool along_rows) {
    return Side{x.data, rows, along_rows ? 1 : x.stride, along_rows ? x.stride : 1};
  };
  return {p.a.dtype,
          side(p.a, s.m, p.transpose_a),
          side(p.b, s.n, !p.transpose_b),
          s.k,
          p.c,
          static_cast<const float*>(p.bias.data),
          p.activation == Activation::relu,
          p.accumulate};
}

int tile_count(DType dtype) {
  return dtype == DType::bf16 ? int(std::size(tensor_tiles)) : int(std::size(plain_tiles));
}

TileShape tile_shape(DType dtype, int tile) {
  return dtype == DType::bf16 ? tensor_tiles[tile] : plain_tiles[tile];
}

// A cost model: blocks run on the multiprocessors in rounds. For a step of k a block reads its rows
// of a and b at 64 bytes per cycle, and a multiprocessor multiplies about 1,300 pairs per cycle in
// bf16 and 128 in f32: in units of one row's bytes a pair costs 1 / 40 or 1 / 8. Times of reads and
// products are added, as small tiles overlap them little.
int best_tile(DType dtype, int64_t rows, int64_t cols, int processors, int shared_bytes) {
  const double pair = dtype == DType::bf16 ? 1.0 / 40 : 1.0 / 8;
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int tile = 0; tile < tile_count(dtype); ++tile) {
    const TileShape t = tile_shape(dtype, tile);
    if (t.shared_bytes() > shared_bytes) continue;
    const int64_t blocks = int64_t(blocks_of(rows, t.rows)) * blocks_of(cols, t.cols);
    const double read = double(std::min<int64_t>(rows, t.rows) + t.cols);
    const double time = double(blocks_of(blocks, processors)) * (read + pair * t.rows * t.cols);
    if (time <= least) best = tile, least = time;
  }
  return best;
}

void own_product(const Cuda::State& s, const Sums& p, int tile) {
  if (p.a.rows == 0 || p.b.rows == 0) return;
  if (p.dtype == DType::bf16) return tensor_product(s, p, tile);
  plain_product(s, p, tile);
}

namespace {

Sums sums_of_rows(Matrix x, Matrix w, Matrix bias, Activation activation, Matrix y) {
  TX_ASSERT(w.prepared && x.dtype == w.dtype && x.cols == w.cols);
  TX_ASSERT(y.rows == x.rows && y.cols == w.rows && x.cols <= x.stride && y.cols <= y.stride);
  TX_ASSERT(activation == Activation::none || activation == Activation::relu);
  TX_ASSERT(y.dtype == DType::f32 || y.dtype == DType::bf16);
  TX_ASSERT(bias.empty() || (bias.cols == y.cols && bias.dtype == DType::f32));
  return {x.dtype, {x.data, x.rows, x.stride, 1},        {w.data, w.rows, w.stride, 1},  x.cols,
          y,       static_cast<const float*>(bias.data), activation == Activation::relu, false,
          true};
}

}  // namespace

void matmul_invariant(Cuda::State& s, Matrix x, Matrix w, Matrix bias, Activation activation,
                      Matrix y, int tile) {
  const Sums sums = sums_of_rows(x, w, bias, activation, y);
  if (tile == best) tile = best_tile(x.dtype, x.rows, w.rows, s.processors, s.shared_bytes_limit);
  own_product(s, sums, tile);
}

namespace {

BlasLt& blas_of(Cuda::State& s) {
  if (!s.blas) s.blas = std::make_unique<BlasLt>(s.branches);
  return *s.blas;
}

}  // namespace
}  // namespace cuda

void Cuda::product(const Product& p) {
  const ProductShape s = shape_of(p);
  TX_ASSERT(p.a.dtype != DType::f64);
  const Timed timed(*state_, p.a.dtype == DType::bf16 ? "products, bf16" : "products, fp32",
                    product_work(p));
  if (s.m == 0 || s.n == 0) return;
  if (BlasLt::takes(p) && cuda::blas_of(*state_).product(*state_, p)) return;
  const cuda::Sums sums = cuda::sums_of(p);
  const int tile =
      cuda::best_tile(p.a.dtype, s.m, s.n, state_->processors, state_->shared_bytes_limit);
  cuda::own_product(*state_, sums, tile);
}

void Cuda::product_relu_backward(const Product& p, Matrix y, const Dropout& drop, Matrix dbias,
                                 bool add_bias) {
  TX_ASSERT(!p.accumulate && p.bias.empty() && p.activation == Activation::none);
  const ProductShape shape = shape_of(p);
  TX_ASSERT(y.rows == shape.m && y.cols == shape.n && y.dtype == p.c.dtype);
  if (!state_->dx || p.a.dtype != DType::bf16 || p.c.dtype != DType::bf16 || p.transpose_a ||
      p.transpose_b || !all_packed(p.a, p.b, p.c, y)) {
    product(p);
    return activate_backward(p.c, y, Activation::relu, drop, p.c, dbias, add_bias);
  }
  Work work = product_work(p);
  work.bytes += traffic(y).bytes;
  const Timed timed(*state_, "products, bf16", work);
  const float scale = drop.threshold ? float(drop.scale) : 1.0f;
  cuda::wgmma_relu_backward(*state_, p, y, scale, dbias, add_bias);
}

void Cuda::product_aside(const Product& p) {
  if (state_->profile || !state_->branches) return product(p);
  join();
  state_->fork([&] { product(p); });
}

bool Cuda::has_branches() const { return state_->branches; }

void Cuda::join() { state_->join(); }

void Cuda::plan_product(const Product& p) {
  const ProductShape s = shape_of(p);
  TX_ASSERT(p.a.dtype != DType::f64);
  if (s.m == 0 || s.n == 0 || !BlasLt::takes(p)) return;
  cuda::blas_of(*state_).plan(*state_, p);
}

size_t Cuda::scratch_bytes() const {
  const size_t workspaces = state_->blas ? (state_->branches ? 2 : 1) : 0;
  return state_->scratch_bytes + workspaces * BlasLt::workspace_bytes;
}

std::string Cuda::tuning() const { return state_->blas ? state_->blas->algorithms() : ""; }
void Cuda::set_tuning(const std::string& text) {
  BlasLt& blas = cuda::blas_of(*state_);
  if (text == "measure") {
    blas.by_timing = true;
  } else {
    blas.set_algorithms(text);
  }
}

// The loops read weights in place: (O,I) has rows along k, as ldmatrix needs.
Matrix Cuda::prepare(Matrix weights) {
  TX_ASSERT(weights.rows > 0 && weights.cols > 0);
  TX_ASSERT(weights.dtype == DType::f32 || weights.dtype == DType::bf16);
  weights.prepared = weights.data;
  return weights;
}

Matrix Cuda::prepare_rows(const WeightRows& from, DType dtype) {
  TX_ASSERT(from.rows > 0 && from.cols > 0);
  if (dtype == DType::i8)
    throw UsageError("--precision int8 is CPU-only: use --device cpu or another precision");
  const auto free = [this](void* p) { release(p); };  // also if from.read() throws
  using Memory = std::unique_ptr<void, decltype(free)>;
  const size_t row = size_t(from.cols) * size_of(dtype);
  Memory memory(allocate(size_t(from.rows) * row), free);
  constexpr int64_t kRows = 256;  // at a time
  std::vector<float> values(size_t(kRows * from.cols));
  const Memory staged(allocate(values.size() * 4), free);
  for (int64_t first = 0; first < from.rows; first += kRows) {
    const int64_t count = std::min(kRows, from.rows - first);
    from.read(first, count, values.data());
    upload(staged.get(), values.data(), size_t(count * from.cols) * 4);
    convert(
        matrix(staged.get(), DType::f32, count, from.cols),
        matrix(static_cast<char*>(memory.get()) + size_t(first) * row, dtype, count, from.cols));
  }
  wait();
  Matrix m = matrix(nullptr, dtype, from.rows, from.cols);
  m.prepared = memory.release();
  return m;
}

Matrix Cuda::prepare_int8(const Int8Weights&) {
  throw UsageError("--precision int8 is CPU-only: use --device cpu or another precision");
}

void Cuda::pick_rows(Matrix prepared, const int32_t* rows, int64_t count, Matrix& picked) {
  TX_ASSERT(prepared.prepared && count > 0);
  const bool fits = picked.prepared && picked.dtype == prepared.dtype &&
                    picked.cols == prepared.cols && picked.rows >= count;
  if (!fits) {
    release_prepared(picked);
    picked = matrix(nullptr, prepared.dtype, count, prepared.cols);
    picked.prepared = allocate(size_t(count * prepared.cols) * size_of(prepared.dtype));
  }
  picked.rows = count;
  void* const ids = state_->scratch(size_t(count) * sizeof(int32_t));
  upload(ids, rows, size_t(count) * sizeof(int32_t));
  prepared.data = const_cast<void*>(prepared.prepared);
  Matrix to = picked;
  to.data = const_cast<void*>(picked.prepared);
  gather_rows(prepared, static_cast<const int32_t*>(ids), to);
}

void Cuda::release_prepared(Matrix& weights) {
  if (weights.empty()) release(const_cast<void*>(weights.prepared));  // of prepare_rows()
  weights.prepared = nullptr;
}

void Cuda::matmul_invariant(Matrix x, Matrix prepared, Matrix bias, Activation activation,
                            Matrix y) {
  const Timed timed(*state_, x.dtype == DType::bf16 ? "rows, bf16" : "rows, fp32",
                    {traffic(x, prepared, bias, y).bytes,
                     2.0 * double(x.rows) * double(x.cols) * double(prepared.rows)});
  prepared.data = const_cast<void*>(prepared.prepared);
  cuda::matmul_invariant(*state_, x, prepared, bias, activation, y, cuda::best);
}

void Cuda::add_norm_matmul(const AddNorm& norm, const RowProduct& p) {
  Matrix w = p.prepared;
  w.data = const_cast<void*>(w.prepared);
  if (!norm.normed.empty() && !state_->profile &&
      cuda::norm_product(*state_, norm, cuda::sums_of_rows(p.x, w, p.bias, p.activation, p.y)))
    return;
  if (!norm.normed.empty()) add_norm(norm);
  matmul_invariant(p.x, p.prepared, p.bias, p.activation, p.y);
}

}  // namespace tx
