// Embedding, and its gradient by sorted rows: no atomics, and sums in the order of the rows.
#include "kernels/cuda/rows/pass.h"
#include "kernels/cuda/rows/sort.h"
#include "kernels/cuda/runtime/profile.h"

namespace tx {
namespace {

// out = dropout(table[ids] * scale + positions[position])
TX_DEVICE bool is_blank(const Blank& blank, int32_t id, int64_t row) {
  return id == blank.id || (blank.rows && blank.rows[row]);
}

template <class T>
struct Embed {
  static constexpr int at_once = 2;
  struct Loaded {
    Octet<T> word;
    Octet<float> place;
    RowMask mask;
    float scale;
  };
  const int32_t* ids;
  Blank blank;
  Matrix table, positions, out;
  Dropout drop;
  float scale;
  bool packed;

  TX_DEVICE void load(int64_t i, int64_t column, int count, Loaded& in) const {
    in.word = read_octet(row_of<T>(table, ids[i]) + column, count, packed);
    in.place = {};
    if (given(positions))
      in.place =
          read_octet(row_of<float>(positions, drop.keys.position[i]) + column, count, packed);
    in.mask.read(drop, i);
    in.scale = is_blank(blank, ids[i], i) ? 0.0f : scale;
  }
  TX_DEVICE void finish(int64_t i, int64_t column, int count, const Loaded& in,
                        float (&value)[octet]) const {
#pragma unroll
    for (int j = 0; j < octet; ++j) value[j] = in.word[j] * in.scale + in.place[j];
    in.mask.apply(drop, column, value);
    write_octet(row_of<T>(out, i) + column, count, packed, octet_of<T>(value));
  }
};

// Rows of one id are added in chunks of this many: <eos> occurs thousands of times in a batch.
constexpr int64_t chunk_rows = 64;
constexpr int warps = 8;  // of a block

// to (V,D) f32 += scale * dropout(dout) by sorted key. Rows of a key are those at start[key] ..
// end[key] - 1 of the sorted ones. Their first chunk is added to the row of `to`; the others are
// summed into partial[place / chunk_rows] and then added one after another.
struct AddRows {
  Matrix dout, to;
  Dropout drop;
  float scale;
  bool packed;
  const uint32_t* keys;   // by row
  const uint32_t* order;  // rows, by rising key and then by row
  Blank blank;            // rows that add nothing
  uint32_t *start, *end;  // by key, of the keys that occur
  float* partial;         // (blocks_of(rows, chunk_rows), D)

  TX_DEVICE uint32_t key_at(int64_t place) const { return keys[order[place]]; }
};

__global__ void __launch_bounds__(warps* warp_size) find_ends(AddRows p) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, rows = p.dout.rows;
  if (i >= rows) return;
  const uint32_t key = p.key_at(i);
  if (i == 0 || p.key_at(i - 1) != key) p.start[key] = uint32_t(i);
  if (i + 1 == rows || p.key_at(i + 1) != key) p.end[key] = uint32_t(i + 1);
}

// sum += the rows at places first .. last - 1, in order, `at_once` of them in flight.
template <class T>
TX_DEVICE void add_places(const AddRows& p, int64_t first, int64_t last, int64_t column, int count,
                          float (&sum)[octet]) {
  constexpr int at_once = sizeof(T) == 2 ? 4 : 2;
  for (int64_t i = first; i < last; i += at_once) {
    Octet<T> in[at_once];
    RowMask mask[at_once];
    float scale[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (i + k >= last) continue;
      const int64_t row = p.order[i + k];
      in[k] = read_octet(row_of<T>(p.dout, row) + column, count, p.packed);
      mask[k].read(p.drop, row);
      scale[k] = is_blank(p.blank, int32_t(p.keys[row]), row) ? 0.0f : p.scale;
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (i + k >= last) continue;
      float value[octet];
#pragma unroll
      for (int j = 0; j < octet; ++j) value[j] = in[k][j] * scale[k];
      mask[k].apply(p.drop, column, value);
#pragma unroll
      for (int j = 0; j < octet; ++j) sum[j] += value[j];
    }
  }
}

// One warp per 256 columns of each place at which a chunk begins.
template <class T>
__global__ void __launch_bounds__(warps* warp_size) add_chunks(AddRows p) {
  const int64_t i = int64_t(blockIdx.x) * warps + int(threadIdx.x) / warp_size;
  const int64_t column = (int64_t(blockIdx.y) * warp_size + int(threadIdx.x) % warp_size) * octet;
  const int count = octet_size(p.dout.cols, column);
  if (i >= p.dout.rows || count == 0) return;
  const uint32_t key = p.key_at(i);
  const int64_t start = p.start[key], end = p.end[key];
  if ((i - start) % chunk_rows != 0) return;
  float* to = i == start ? row_of<float>(p.to, key) : p.partial + i / chunk_rows * p.dout.cols;
  float sum[octet] = {};
  if (i == start) spread(read_octet(to + column, count, p.packed), sum);
  const int64_t last = i + chunk_rows < end ? i + chunk_rows : end;
  add_places<T>(p, i, last, column, count, sum);
  write_octet(to + column, count, p.packed, octet_of<float>(sum));
}

// One warp per 256 columns of each key that has more than one chunk.
__global__ void __launch_bounds__(warps* warp_size) add_partial(AddRows p) {
  const int64_t start = int64_t(blockIdx.x) * warps + int(threadIdx.x) / warp_size;
  const int64_t column = (int64_t(blockIdx.y) * warp_size + int(threadIdx.x) % warp_size) * octet;
  const int count = octet_size(p.dout.cols, column);
  if (start >= p.dout.rows || count == 0) return;
  const uint32_t key = p.key_at(start);
  const int64_t end = p.end[key];
  if (p.start[key] != start || end - start <= chunk_rows) return;
  float* to = row_of<float>(p.to, key) + column;
  float sum[octet];
  spread(read_octet(to, count, p.packed), sum);
#pragma unroll 4
  for (int64_t i = start + chunk_rows; i < end; i += chunk_rows) {
    const float* partial = p.partial + i / chunk_rows * p.dout.cols + column;
    const Octet<float> chunk = read_octet(partial, count, p.packed);
#pragma unroll
    for (int j = 0; j < octet; ++j) sum[j] += chunk[j];
  }
  write_octet(to, count, p.packed, octet_of<float>(sum));
}

// `order` may be null.
void add_rows(Cuda::State& state, const uint32_t* keys, const uint32_t* order, const Blank& blank,
              Matrix dout, double scale, const Dropout& drop, Matrix to) {
  const int64_t rows = dout.rows, tiles = blocks_of(dout.cols, warp_size * octet);
  if (rows == 0) return;
  const size_t ends = (size_t(to.rows) * sizeof(uint32_t) + 255) / 256 * 256;
  const size_t sums = size_t(blocks_of(rows, chunk_rows)) * size_t(dout.cols) * sizeof(float);
  const size_t sort = order ? 0 : sort_bytes(rows);
  char* scratch = static_cast<char*>(state.scratch(sort + 2 * ends + sums));
  if (!order) order = sort_rows(state, keys, rows, to.rows, scratch).row;
  scratch += sort;
  const AddRows p{dout,
                  to,
                  drop,
                  float(scale),
                  all_packed(dout, to),
                  keys,
                  order,
                  blank,
                  reinterpret_cast<uint32_t*>(scratch),
                  reinterpret_cast<uint32_t*>(scratch + ends),
                  reinterpret_cast<float*>(scratch + 2 * ends)};
  constexpr int threads = warps * warp_size;
  const dim3 grid(blocks_of(rows, warps), unsigned(tiles));
  launch(state, find_ends, blocks_of(rows, threads), threads, 0, p);
  with_type(dout.dtype,
            [&](auto t) { launch(state, add_chunks<decltype(t)>, grid, threads, 0, p); });
  if (rows > chunk_rows) launch(state, add_partial, grid, threads, 0, p);
}

}  // namespace

void Cuda::embed(const int32_t* ids, const Blank& blank, Matrix table, double scale,
                 Matrix positions, const Dropout& drop, Matrix out) {
  const Timed timed(*state_, "embedding", traffic(out));
  with_type(out.dtype, [&](auto t) {
    const bool packed = all_packed(table, positions, out);
    const Embed<decltype(t)> op{ids, blank, table, positions, out, drop, float(scale), packed};
    pass(*state_, op, out.rows, out.cols);
  });
}

void Cuda::embed_backward(const int32_t* ids, const int32_t* by_id, const Blank& blank, Matrix dout,
                          double scale, const Dropout& drop, Matrix dtable, Matrix dpositions) {
  const Timed timed(*state_, "embedding, backward", traffic(dout));
  const auto keys = [](const int32_t* x) { return reinterpret_cast<const uint32_t*>(x); };
  add_rows(*state_, keys(ids), keys(by_id), blank, dout, scale, drop, dtable);
  if (!dpositions.empty())
    add_rows(*state_, drop.keys.position, nullptr, Blank{}, dout, 1, drop, dpositions);
}

}  // namespace tx
