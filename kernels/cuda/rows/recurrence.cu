// Simpler simple recurrent units: a thread follows one feature of a sentence from row to row.
#include "kernels/cuda/runtime/octet.h"
#include "kernels/cuda/runtime/profile.h"
#include "kernels/cuda/runtime/state.h"

namespace tx {
namespace {

TX_DEVICE float gate_of(const Recurrence& p, float f, int64_t j) {
  return 1 / (1 + expf(-(f + row_of<float>(p.bias, 0)[j])));
}

template <class T>
TX_DEVICE float next_cell(const Recurrence& p, int64_t i, int64_t j, float before) {
  const T* x = row_of<T>(p.x, i);
  const float u = load(x[j]), c = u + gate_of(p, load(x[p.y.cols + j]), j) * (before - u);
  store(row_of<T>(p.y, i)[j], c < 0 ? 0.0f : c);
  return c;
}

template <class T>
__global__ void run_sentences(Recurrence p) {
  const int64_t at = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t s = at / p.y.cols, j = at % p.y.cols;
  if (s >= p.sentences) return;
  float cell = 0;
  for (int64_t i = p.offsets[s]; i < p.offsets[s + 1]; ++i)
    row_of<float>(p.cells, i)[j] = cell = next_cell<T>(p, i, j, cell);
}

template <class T>
__global__ void run_rows(Recurrence p) {
  const int64_t at = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t i = at / p.y.cols, j = at % p.y.cols;
  if (i >= p.y.rows) return;
  const float before = p.from[i] < 0 ? 0.0f : row_of<float>(p.cells, p.from[i])[j];
  row_of<float>(p.cells, p.to[i])[j] = next_cell<T>(p, i, j, before);
}

template <class T>
__global__ void sentences_back(Recurrence p, Matrix dy, Matrix dx) {
  const int64_t at = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t s = at / dy.cols, j = at % dy.cols;
  if (s >= p.sentences) return;
  const int64_t first = p.offsets[s];
  float after = 0;
  for (int64_t i = p.offsets[s + 1] - 1; i >= first; --i) {
    const T* x = row_of<T>(p.x, i);
    const float u = load(x[j]), gate = gate_of(p, load(x[dy.cols + j]), j);
    const float before = i > first ? row_of<float>(p.cells, i - 1)[j] : 0.0f;
    const float dc = (row_of<float>(p.cells, i)[j] > 0 ? load(row_of<T>(dy, i)[j]) : 0.0f) + after;
    const float du = dc * (1 - gate);
    T* to = row_of<T>(dx, i);
    store(to[j], du);
    store(to[dy.cols + j], du * gate * (before - u));
    after = dc * gate;
  }
}

constexpr int threads = 128;

}  // namespace

void Cuda::recurrence(const Recurrence& p) {
  const Timed timed(*state_, "recurrence", traffic(p.x, p.y, p.y));
  TX_ASSERT(p.x.cols == 2 * p.y.cols && p.cells.cols == p.y.cols);
  const int64_t lines = p.offsets ? p.sentences : p.y.rows;
  if (lines == 0) return;
  const unsigned blocks = blocks_of(lines * p.y.cols, threads);
  with_type(p.x.dtype, [&](auto t) {
    launch(*state_, p.offsets ? run_sentences<decltype(t)> : run_rows<decltype(t)>, blocks, threads,
           0, p);
  });
}

void Cuda::recurrence_backward(const Recurrence& p, Matrix dy, Matrix dx) {
  const Timed timed(*state_, "recurrence", traffic(p.x, dy, dx));
  TX_ASSERT(p.offsets && dx.cols == 2 * dy.cols);
  if (p.sentences == 0) return;
  const unsigned blocks = blocks_of(p.sentences * dy.cols, threads);
  with_type(p.x.dtype, [&](auto t) {
    launch(*state_, sentences_back<decltype(t)>, blocks, threads, 0, p, dy, dx);
  });
}

}  // namespace tx
