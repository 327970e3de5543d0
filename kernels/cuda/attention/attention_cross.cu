// Attention of hypotheses to cached keys that they share (cross-attention), in bf16 on tensor cores
// for heads of up to 64 columns. A warp takes a head of up to four rows and 32 keys at a time: keys
// go straight to registers, values through shared memory. The rows are 4 of the 16 rows of the
// products with keys, and 4 of the 8 columns of those with values, which are transposed, since so
// the weights stay in their registers. Up to 64 keys are processed by one warp, more by all warps
// of a block, 32 in turn, whose results are added in the order of the warps. Only the number of
// keys decides, and rows of a product do not see each other, so a row's bits do not depend on other
// rows.
#include "kernels/cuda/attention/attention_projected.h"
#include "kernels/cuda/runtime/mma.h"

namespace tx {
namespace {

using namespace cached;

constexpr int shared_rows = 4, step_keys = 32;
constexpr int groups = step_keys / 8, row_chunks = chunk / 8;  // of 8 keys; of 8 columns

// Query row lane / 4 of the warp, if it has one. Of a head's two halves lane t of four has columns
// 8 t to 8 t + 7, as of the keys: products take the columns in this order.
struct Query {
  uint32_t word[2][4];
};

// Softmax of query row lane / 4, and weighted values of all rows: of rows 2 t and 2 t + 1 the
// columns 16 n + lane / 4 in o[n][0], o[n][1], and those 8 further on in o[n][2], o[n][3].
struct Result {
  float most = -INFINITY, sum = 0, o[row_chunks / 2][4] = {};
};
// Before the first score the maximum is minus infinity: the difference would be NaN.
TX_DEVICE float weight_of(float score, float most, float scale) {
  return exponential<bf16>((score - (most == -INFINITY ? 0.f : most)) * scale);
}

// The largest, or the sum, over the four lanes of a row.
template <class F>
TX_DEVICE float of_row(float x, const F& join) {
  x = join(x, __shfl_xor_sync(whole_warp, x, 1));
  return join(x, __shfl_xor_sync(whole_warp, x, 2));
}

TX_DEVICE int quad_lane() { return warp_lane() % 4; }
TX_DEVICE int quad_row() { return warp_lane() / 4; }

// Both halves of a row of queries or keys; zero if not `inside`.
template <bool packed>
TX_DEVICE Query load_row(const bf16* row, int width, bool inside) {
  Query q;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int column = half * chunk / 2 + quad_lane() * 8;
    const Octet<bf16> x = load_eight<packed>(row + column, inside ? width - column : 0);
#pragma unroll
    for (int i = 0; i < 4; ++i) q.word[half][i] = x.word[i];
  }
  return q;
}

// The place of columns 8 n to 8 n + 7 of value `key` in the warp's shared memory.
TX_DEVICE bf16* value_at(bf16* values, int key, int n) {
  return values + key * chunk + (n ^ key % row_chunks) * 8;
}

template <bool packed>
TX_DEVICE void load_values(const CachedAttention& p, const Share& w, int j0, bf16* values) {
#pragma unroll
  for (int i = 0; i < step_keys * row_chunks / warp_size; ++i) {
    const int place = i * warp_size + warp_lane(), key = place / row_chunks, n = place % row_chunks;
    const bool inside = j0 + key < w.keys.count && n * 8 < p.d_v;
    const bf16* from =
        head_of<const bf16>(p.v, w.keys.at(inside ? j0 + key : 0), w.kv_head, p.d_v) + n * 8;
    bf16* to = value_at(values, key, n);
    if constexpr (packed) {
      copy_async_16_or_zero(to, from, inside);
    } else {
      write_octet(to, 8, true, load_eight<false>(from, inside ? p.d_v - n * 8 : 0));
    }
  }
  copy_async_commit();
}

// o += 16 values, from `first` on, transposed, times the weights of the rows.
TX_DEVICE void add_values(const uint32_t (&weights)[2], bf16* values, int first,
                          float (&o)[row_chunks / 2][4]) {
  const int key = first + warp_lane() % 8 + warp_lane() / 16 * 8;
#pragma unroll
  for (int n = 0; n < row_chunks / 2; ++n) {
    uint32_t a[4];
    ldmatrix_x4_transposed(a, value_at(values, key, 2 * n + warp_lane() / 8 % 2));
    mma_bf16(o[n], a, weights);
  }
}

// Keys j0 to j0 + 31.
template <bool packed>
TX_DEVICE void take_keys(const CachedAttention& p, const Share& w, const Query& q, int j0,
                         bf16* values, Result& r) {
  __syncwarp();  // the last values are no longer read
  load_values<packed>(p, w, j0, values);
  float s[groups][4] = {};
#pragma unroll
  for (int g = 0; g < groups; ++g) {
    const int j = j0 + g * 8 + quad_row();
    const bool inside = j < w.keys.count;
    const Query k = load_row<packed>(
        head_of<const bf16>(p.k, w.keys.at(inside ? j : 0), w.kv_head, p.d_k), p.d_k, inside);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int at = i % 2 * 2;
      const uint32_t a[4] = {q.word[i / 2][at], 0, q.word[i / 2][at + 1], 0};
      const uint32_t b[2] = {k.word[i / 2][at], k.word[i / 2][at + 1]};
      mma_bf16(s[g], a, b);
    }
  }
  const float scale = float(p.scale);
  const auto seen = [&](int g, int e) { return j0 + g * 8 + quad_lane() * 2 + e < w.keys.count; };
  float next = r.most;
#pragma unroll
  for (int g = 0; g < groups; ++g)
#pragma unroll
    for (int e = 0; e < 2; ++e)
      if (seen(g, e)) next = fmaxf(next, s[g][e]);
  next = of_row(next, [](float x, float y) { return fmaxf(x, y); });
  const float factor = weight_of(r.most, next, scale);
  r.most = next;
  r.sum *= factor;
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const float of = __shfl_sync(whole_warp, factor, (quad_lane() * 2 + e) * 4);
#pragma unroll
    for (int n = 0; n < row_chunks / 2; ++n) r.o[n][e] *= of, r.o[n][2 + e] *= of;
  }
  // Rounded to bf16, and what that lost, rounded, too.
  uint32_t high[groups], low[groups];
#pragma unroll
  for (int g = 0; g < groups; ++g) {
    float weight[2];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      weight[e] = seen(g, e) ? weight_of(s[g][e], next, scale) : 0.f;
      r.sum += weight[e];
    }
    high[g] = bf16_pair(weight[0], weight[1]);
    low[g] = bf16_pair(weight[0] - __uint_as_float(high[g] << 16),
                       weight[1] - __uint_as_float(high[g] & 0xffff0000u));
  }
  copy_async_wait<0>();
  __syncwarp();
#pragma unroll
  for (int g = 0; g < groups; g += 2) {
    const uint32_t highs[2] = {high[g], high[g + 1]}, lows[2] = {low[g], low[g + 1]};
    add_values(highs, values, g * 8, r.o), add_values(lows, values, g * 8, r.o);
  }
}

// The result of a warp.
struct Part {
  float most[shared_rows], sum[shared_rows], o[shared_rows][chunk];
};

TX_DEVICE void keep(const Result& r, Part& part) {
  if (quad_row() < shared_rows && quad_lane() == 0)
    part.most[quad_row()] = r.most, part.sum[quad_row()] = r.sum;
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const int row = quad_lane() * 2 + e;
    if (row >= shared_rows) continue;
#pragma unroll
    for (int n = 0; n < row_chunks / 2; ++n) {
      part.o[row][16 * n + quad_row()] = r.o[n][e];
      part.o[row][16 * n + quad_row() + 8] = r.o[n][2 + e];
    }
  }
}

// A warp writes what `count` parts make together: lane l columns l % 8 * 8 to l % 8 * 8 + 7 of row
// l / 8.
template <bool packed>
TX_DEVICE void write_rows(const CachedAttention& p, const Share& w, const Part* parts, int count) {
  const int row = warp_lane() / row_chunks, column = warp_lane() % row_chunks * 8;
  if (row >= w.here) return;
  float most = parts[0].most[row], sum = 0, o[8] = {};
  for (int i = 1; i < count; ++i) most = fmaxf(most, parts[i].most[row]);
  for (int i = 0; i < count; ++i) {
    const float factor = weight_of(parts[i].most[row], most, float(p.scale));
    sum = fmaf(parts[i].sum[row], factor, sum);
#pragma unroll
    for (int j = 0; j < 8; ++j) o[j] = fmaf(parts[i].o[row][column + j], factor, o[j]);
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) o[j] = sum == 0 ? 0.f : o[j] / sum;  // no key: zeros
  store_eight<packed>(head_of<bf16>(p.o, w.row + row, w.head, p.d_v) + column, p.d_v - column, o);
}

// In the shared memory of a block.
struct Scratch {
  bf16 values[warps][step_keys * chunk];
  Part parts[warps];
};

// Rows from `row` to `end` - 1 and heads from `first_head` to `last_head` - 1, by a block.
template <bool packed>
TX_DEVICE void attend(const CachedAttention& p, int row, int end, int first_head, int last_head,
                      Scratch& scratch) {
  bf16* const values = scratch.values[warp_index()];
  Share w;
  for (w.row = row; w.row < end; w.row += w.here) {
    w.here = rows_with_same_keys(p, w.row, end);
    w.keys = {nullptr, p.first[w.row], p.lengths[w.row]};
    w.head = first_head + (w.alone() ? warp_index() : 0);
    for (; w.head < last_head; w.head += w.alone() ? warps : 1) {
      w.kv_head = int(unsigned(w.head) * unsigned(p.kv_heads) / unsigned(p.heads));
      const bool mine = quad_row() < w.here;
      const Query q = load_row<packed>(
          head_of<const bf16>(p.q, w.row + (mine ? quad_row() : 0), w.head, p.d_k), p.d_k, mine);
      Result r;
      const int apart = w.alone() ? step_keys : warps * step_keys;
      for (int j0 = w.alone() ? 0 : warp_index() * step_keys; j0 < w.keys.count; j0 += apart)
        take_keys<packed>(p, w, q, j0, values, r);
      r.sum = of_row(r.sum, [](float x, float y) { return x + y; });
      Part& own = scratch.parts[warp_index()];
      if (w.alone()) {
        __syncwarp();  // the last part has been read
        keep(r, own);
        __syncwarp();
        write_rows<packed>(p, w, &own, 1);
      } else {
        __syncthreads();
        keep(r, own);
        __syncthreads();
        if (warp_index() == 0) write_rows<packed>(p, w, scratch.parts, warps);
      }
    }
  }
}

template <bool packed>
__global__ void __launch_bounds__(warps* warp_size, 4)
    cross_rows(CachedAttention p, int heads_each) {
  __shared__ __align__(16) Scratch scratch;
  wait_for_earlier();
  const int row = int(blockIdx.x) * shared_rows, end = min(row + shared_rows, int(p.q.rows));
  const int first_head = int(blockIdx.y) * heads_each;
  attend<packed>(p, row, end, first_head, min(first_head + heads_each, p.heads), scratch);
}

template <class T>
__global__ void __launch_bounds__(warps* warp_size)
    cross_rows_projected(const Projection from, CachedAttention p) {
  static_assert(T::rows == shared_rows && T::weights_bytes >= int(sizeof(Scratch)));
  unsigned char* shared = dynamic_shared<unsigned char>();
  const int head = int(blockIdx.y), row = int(blockIdx.x) * T::rows;
  const int end = min(row + T::rows, int(p.o.rows));
  project<T>(from, head, row, end - row, shared);
  p.q = section_of<T>(from, 0, head, row, shared);
  attend<true>(p, row, end, head, head + 1,
               *reinterpret_cast<Scratch*>(shared + T::out_bytes + T::a_bytes));
}

// Whether the kernels here are for p.
bool takes(const CachedAttention& p) {
  return p.first && p.q.dtype == DType::bf16 && std::max(p.d_k, p.d_v) <= chunk && !p.window &&
         !p.slopes && !p.distances.values;
}

}  // namespace

bool cached::cross_projected(const Cuda::State& s, const Projection& from,
                             const CachedAttention& p) {
  return takes(p) &&
         start_projected<1>(s, from, p, [](auto t) { return cross_rows_projected<decltype(t)>; });
}

bool cached::cross_attention(const Cuda::State& s, const CachedAttention& p, bool packed) {
  if (!takes(p)) return false;
  const unsigned windows = blocks_of(p.q.rows, shared_rows), by_warps = blocks_of(p.heads, warps);
  const bool many = windows * by_warps >= unsigned(s.processors);
  launch_early(s, packed ? cross_rows<true> : cross_rows<false>,
               dim3(windows, many ? by_warps : unsigned(p.heads)), warps * warp_size, 0, p,
               many ? warps : 1);
  return true;
}

}  // namespace tx
