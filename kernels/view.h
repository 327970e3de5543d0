// The arguments of kernels: two-dimensional views of memory, and structs of them. Also for nvcc.
#pragma once
#include <cstddef>
#include <cstdint>

#include "lib/base/error.h"

namespace tx {

// f64: on the CPU only, the reference for golden tests. i8: weights only (kernels/int8.h).
enum class DType : uint8_t { f32, bf16, f64, ids, i8 };

constexpr size_t size_of(DType t) {
  return t == DType::f64 ? 8 : t == DType::bf16 ? 2 : t == DType::i8 ? 1 : 4;
}

struct Matrix {
  void* data = nullptr;
  DType dtype = DType::f32;
  int64_t rows = 0, cols = 0;
  int64_t stride = 0;              // elements from one row to the next, >= cols
  const void* prepared = nullptr;  // the backend's own packed form (prepare()), or null

  bool empty() const { return data == nullptr; }
  // Columns first .. first + count - 1 of every row.
  Matrix columns(int64_t first, int64_t count) const {
    Matrix m = *this;
    m.data = static_cast<char*>(data) + size_t(first) * size_of(dtype);
    m.cols = count;
    return m;
  }
  // Rows first .. first + count - 1.
  Matrix slice(int64_t first, int64_t count) const {
    Matrix m = *this;
    m.data = static_cast<char*>(data) + size_t(first) * size_t(stride) * size_of(dtype);
    m.rows = count;
    return m;
  }
  template <class T>
  T* row(int64_t i) const {
    return static_cast<T*>(data) + i * stride;
  }
};

inline Matrix matrix(void* data, DType dtype, int64_t rows, int64_t cols) {
  return {data, dtype, rows, cols, cols, nullptr};
}

// gelu is exact, by the error function; gelu_tanh and gelu_sigmoid are approximations with which
// some models were trained. Those after silu are gated (gate() of interface.inc).
enum class Activation : uint8_t {
  none,
  relu,
  gelu,
  gelu_tanh,
  gelu_sigmoid,
  silu,
  swiglu,
  geglu,
  geglu_tanh
};

constexpr bool is_gated(Activation a) { return a >= Activation::swiglu; }
// The function that a gated activation applies to its gate; others are returned unchanged.
constexpr Activation gate_function(Activation a) {
  switch (a) {
    case Activation::swiglu:
      return Activation::silu;
    case Activation::geglu:
      return Activation::gelu;
    case Activation::geglu_tanh:
      return Activation::gelu_tanh;
    default:
      return a;
  }
}

// Everything that changes from one optimizer step to the next, in the backend's memory: kernels
// read it through a pointer, so that the host does not wait for the device within a step.
struct StepRecord {
  int64_t step = 0;          // from 1: schedule, bias correction, dropout coordinates
  double rate = 0;           // learning rate of this step
  double loss_scale = 1;     // 1 / target labels of the whole step
  double clip_norm = 0;      // 0: no clipping
  double loss_limit = 0;     // mean loss per label above which the update is skipped; 0: none
  double clip_factor = 1;    // written by gradient_norm
  double gradient_norm = 0;  // written by gradient_norm
  int32_t skip = 0;          // written by gradient_norm: 1 when loss or norm are not finite, or
  int32_t spike = 0;         //   when the loss passed the limit (then spike is 1 too)
  // The rest are sums, which add_sums() adds.
  double loss = 0;          // sums over the step's labels, added to by cross_entropy:
  double nll = 0;           //   smoothed loss, unsmoothed negative log-likelihood (nats),
  int64_t correct = 0;      //   labels that had the highest logit,
  int64_t labels = 0;       //   labels seen
  double guided = 0;        // sums added to by guide_attention: cross-entropies with links (nats),
  int64_t guided_rows = 0;  //   rows that have links
  double consistency = 0;   // sum over the labels of the KL terms of consistency_loss (nats)
};

// The term of consistency_loss().
struct Consistency {
  double weight = 0;
  bool symmetric = false;
};

// Elements per sum of square_sums(): shards that begin at a multiple have the whole block's sums.
constexpr int64_t norm_block = 16384;
constexpr int64_t norm_blocks(int64_t elements) { return (elements + norm_block - 1) / norm_block; }
// Of normalise(): sums of squares up to this count as 0.
constexpr double smallest_square = 1e-60;

// Coordinates of the rows of a packed side: row i belongs to pair[i] of the epoch, at position[i]
// of its sentence. Arrays of N in the backend's memory.
struct RowKeys {
  const uint32_t* pair = nullptr;
  const uint32_t* position = nullptr;
};

// Inverted dropout with Philox masks: key (seed, site), counter (step, pair, position, 8 features),
// 16 bits per element, dropped where bits < threshold, not stored.
struct Dropout {
  uint32_t threshold = 0;  // round(p * 65536); 0: off
  double scale = 1;        // 65536 / (65536 - threshold)
  uint32_t seed = 0, site = 0;
  int64_t first = 0;  // the feature of column 0; a multiple of 8 on a GPU
  const StepRecord* record = nullptr;
  RowKeys keys;
};

inline Dropout dropout(double p, uint32_t seed, uint32_t site, const StepRecord* record,
                       RowKeys keys) {
  Dropout d;
  d.threshold = uint32_t(p * 65536 + 0.5);
  d.scale = 65536.0 / double(65536 - d.threshold);
  d.seed = seed;
  d.site = site;
  d.record = record;
  d.keys = keys;
  return d;
}

// c = [a or a^T][b or b^T] (+ c) (+ bias) then activation. Products accumulate in fp32, of f64 in
// f64.
//   forward         y (N,O) = x (N,I) w (O,I)^T      transpose_b
//   input gradient  dx (N,I) = dy (N,O) w (O,I)
//   weight gradient dw (O,I) = dy (N,O)^T x (N,I)    transpose_a, c f32
struct Product {
  Matrix a, b, c;
  bool transpose_a = false, transpose_b = false;
  bool accumulate = false;  // add to c; not together with bias or activation
  Matrix bias;              // (1,O) f32 (f64 with f64), or empty
  // The bias rounded to bf16, if there is a copy: for backends that need it for a bf16 c.
  Matrix rounded_bias;
  Activation activation = Activation::none;  // none or relu
};

// M, N and inner dimension K of a product, after the transposes.
struct ProductShape {
  int64_t m, n, k;
};

// Asserts that shapes and dtypes agree. f64 passes: the CUDA backend refuses it itself.
inline ProductShape shape_of(const Product& p) {
  const int64_t m = p.transpose_a ? p.a.cols : p.a.rows;
  const int64_t k = p.transpose_a ? p.a.rows : p.a.cols;
  const int64_t n = p.transpose_b ? p.b.rows : p.b.cols;
  TX_ASSERT(k > 0 && (p.transpose_b ? p.b.cols : p.b.rows) == k);
  TX_ASSERT(p.c.rows == m && p.c.cols == n);
  TX_ASSERT(p.a.stride >= p.a.cols && p.b.stride >= p.b.cols && p.c.stride >= p.c.cols);
  const DType t = p.a.dtype, full = t == DType::f64 ? DType::f64 : DType::f32;
  TX_ASSERT(t == DType::f32 || t == DType::f64 || t == DType::bf16);
  TX_ASSERT(p.b.dtype == t && (p.c.dtype == t || p.c.dtype == full));
  TX_ASSERT(p.activation == Activation::none || p.activation == Activation::relu);
  TX_ASSERT(!p.accumulate || (p.bias.empty() && p.activation == Activation::none));
  TX_ASSERT(p.bias.empty() || (p.bias.dtype == full && p.bias.rows == 1 && p.bias.cols == n));
  TX_ASSERT(p.rounded_bias.empty() ||
            (p.rounded_bias.dtype == DType::bf16 && p.rounded_bias.cols == p.bias.cols));
  return {m, n, k};
}

// y (N,O) = x (N,I) w^T (+ bias) then activation, with weights of prepare(): matmul_invariant().
struct RowProduct {
  Matrix x, prepared, bias;
  Activation activation = Activation::none;  // none or relu
  Matrix y;
};

// A bias of scores by distance (T5, Raffel et al., 2020): values[h * buckets + b] is added to the
// scaled score of head h for query i and key j, where b is bucket[d + reach] for d = j - i, limited
// to -reach .. reach.
struct DistanceBias {
  const void* values = nullptr;     // (heads, buckets) f32 (f64 in f64), or null
  const int32_t* bucket = nullptr;  // 2 reach + 1
  int buckets = 0, reach = 0;
};

// The parameters of all attentions of a stack. Query head h reads key head h * kv_heads / heads.
struct AttentionShape {
  int heads = 1, kv_heads = 1, d_k = 0, d_v = 0;
  double scale = 1;     // of dot products: 1 / sqrt(d_k)
  bool causal = false;  // query i of a sentence attends to keys 0 .. i
  int window = 0;       // and only to those with |i - j| < window; 0: all
  // (heads), or null. ALiBi: slopes[h] * |i - j| is subtracted from the scaled score of head h.
  const double* slopes = nullptr;
  DistanceBias distances;
  int64_t queries() const { return int64_t(heads) * d_k; }    // HK: columns of queries
  int64_t outputs() const { return int64_t(heads) * d_v; }    // HV: of the heads' outputs
  int64_t keys() const { return int64_t(kv_heads) * d_k; }    // GK: of keys, of G key/value heads
  int64_t values() const { return int64_t(kv_heads) * d_v; }  // GV: of values
  int64_t width() const { return keys() + values(); }         // of keys and values together
  AttentionShape& shape() { return *this; }                   // of a derived struct
  AttentionShape of_all_keys() const {                        // unmasked: for cross-attention
    AttentionShape shape = *this;
    shape.causal = false, shape.window = 0, shape.slopes = nullptr, shape.distances = {};
    return shape;
  }
};

// Attention of packed sentences: queries of sentence s are rows q_offsets[s] .. q_offsets[s+1] - 1.
struct Attention : AttentionShape {
  Matrix q, k, v;       // (T, heads*d_k), (S, kv_heads*d_k), (S, kv_heads*d_v)
  Matrix o;             // (T, heads*d_v)
  void* lse = nullptr;  // (T, heads) f32 (f64 in f64): log-sum-exp, kept for backward
  const int32_t* q_offsets = nullptr;
  const int32_t* k_offsets = nullptr;
  int64_t sentences = 0;
  Dropout drop;  // on the weights; site of head h is drop.site + (h << 16)
};

// Attention of one query row per hypothesis over cached keys and values (decoding).
// Key j of row r is cache row index[r * index_stride + j], j < lengths[r]. For a window and biases
// the query is at the position of the last key. There are no later keys, so causal is ignored.
struct CachedAttention : AttentionShape {
  Matrix q;     // (R, heads*d_k)
  Matrix k, v;  // (cache rows, kv_heads*d_k), (cache rows, kv_heads*d_v)
  Matrix o;     // (R, heads*d_v)
  const int32_t* index = nullptr;
  int64_t index_stride = 0;
  const int32_t* lengths = nullptr;
  const int32_t* first = nullptr;  // instead of index: keys of row r are cache rows first[r] + j
  // With `index`; may be empty. (R, kv_heads*d_k), (R, kv_heads*d_v): the last key and value of row
  // r, also stored in their cache row, which no other row reads.
  Matrix own_k, own_v;
};

// Extends the lists of cache rows of R hypotheses by one entry: list r of `to` is the first
// lengths[r] - 1 entries of list parents[r] of `from`, then slots[r]. Later entries are unchanged.
// Lists are `stride` entries apart; `from` and `to` do not overlap.
struct CacheLists {
  const int32_t* from = nullptr;
  const int32_t* parents = nullptr;  // -1 - f: of rows f, f + 1, ...; ignored if lengths[r] is 1
  const int32_t* slots = nullptr;
  const int32_t* lengths = nullptr;  // at least 1, at most stride
  int32_t* to = nullptr;
  int64_t rows = 0, stride = 0;
};

// The columns that belong to each row of a matrix: row i has count[i] of them, from
// columns[first[i]] on. `first` and `count` may be in shared memory.
struct RowLists {
  const int32_t* columns = nullptr;
  const int32_t* first = nullptr;
  const int32_t* count = nullptr;
};

// The arguments of add_norm and add_norm_backward (interface.inc).
struct AddNorm {
  Matrix x, sub;
  Dropout drop;
  Matrix gamma, beta;
  double epsilon = 0;
  Matrix sum, normed, stats;
};
struct AddNormBackward {
  Matrix dnormed, dsum, sum, stats, gamma, dx, dsub, dgamma, dbeta;
  bool add_x = false, add_parameters = false;
  Dropout drop;
};

// Heads of `width` columns of x (N, heads * width). gamma (1, 2 width) f32 (f64 in f64): its first
// half is for those in the first `queries` columns, its second for the others.
struct HeadNorm {
  Matrix x, gamma;
  int64_t queries = 0;
  int width = 0;
  double epsilon = 0;
};

// The arguments of attention_backward besides Attention.
struct AttentionGradient {
  Matrix d_o, dq, dk, dv;  // assigned for every row
  Matrix d_distances;      // (1, heads * buckets) f32 (f64 in f64), (+)=; empty without biases
  bool add_distances = false;
};

// Guided alignment (Chen et al., 2016): one head's query row i attends uniformly to keys
// columns[starts[i]] .. columns[starts[i + 1] - 1]. Rows without links do not contribute.
struct AttentionGuide {
  int head = 0;
  const int32_t* starts = nullptr;   // T + 1
  const int32_t* columns = nullptr;  // from 0 in the sentence; unique in a row, and not masked
  double weight = 0;                 // of this loss relative to that of the labels
  StepRecord* record = nullptr;
};

// Rows of an embedding that have no token, only a position: those with rows[i] != 0, and those with
// this id.
struct Blank {
  const int32_t* rows = nullptr;  // N, or null
  int32_t id = -1;
};

// Simpler simple recurrent unit (Kim et al., 2019), from row to row of a sentence:
// s = sigmoid(f + bias), c_t = s c_(t-1) + (1 - s) u, y_t = max(0, c_t), from c = 0.
struct Recurrence {
  Matrix x;                          // (N,2D): u, then f
  Matrix bias;                       // (1,D) f32 (f64 in f64)
  Matrix cells;                      // (N,D) f32 (f64 in f64): c
  Matrix y;                          // (N,D)
  const int32_t* offsets = nullptr;  // sentence s: rows offsets[s] .. offsets[s+1] - 1
  int64_t sentences = 0;
  // Instead of offsets, in decoding: x and y have R rows; row i reads row from[i] of `cells` (zeros
  // if it is negative) and writes row to[i]. On the CPU it may read what an earlier row has
  // written.
  const int32_t *from = nullptr, *to = nullptr;
};

struct AdamSettings {
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9, weight_decay = 0;
};

}  // namespace tx
