// Radix sort, 8 bits per pass from the lowest. A pass counts the digits in each tile of rows, turns
// the counts into the first place of each (digit, tile), and moves the rows there in order.
#include "kernels/cuda/rows/sort.h"
#include "kernels/cuda/runtime/device.h"

namespace tx {
namespace {

constexpr int threads = 256, warps = threads / warp_size;
constexpr int digits = 256, digit_bits = 8;
constexpr int rounds = 4;  // rows of a thread: 25,000 rows are 25 tiles
constexpr int tile_rows = threads * rounds;
constexpr int scan_threads = 1024;

// Rows in the order after the passes so far; before the first pass `row` is null: row i is i.
struct Rows {
  const uint32_t* key;
  const uint32_t* row;
  int64_t count;
  int shift;  // of the pass's digit
};

TX_DEVICE uint32_t digit_of(const Rows& in, int64_t i) {
  return in.key[i] >> in.shift & (digits - 1);
}

// place (256, tiles) = how many rows of the tile have the digit
__global__ void __launch_bounds__(threads) count_digits(Rows in, int64_t tiles, uint32_t* place) {
  __shared__ unsigned counts[digits];
  counts[threadIdx.x] = 0;
  __syncthreads();
  const int64_t first = int64_t(blockIdx.x) * tile_rows;
  for (int k = 0; k < rounds; ++k) {
    const int64_t i = first + k * threads + int(threadIdx.x);
    if (i < in.count) atomicAdd(&counts[digit_of(in, i)], 1u);
  }
  __syncthreads();
  place[int64_t(threadIdx.x) * tiles + blockIdx.x] = counts[threadIdx.x];
}

// x[i] becomes the sum of those before it. One block.
__global__ void __launch_bounds__(scan_threads) sum_before(uint32_t* x, int64_t count) {
  __shared__ uint32_t warp_total[warp_size];
  const int lane = int(threadIdx.x) % warp_size, warp = int(threadIdx.x) / warp_size;
  uint32_t before = 0;
  for (int64_t first = 0; first < count; first += scan_threads) {
    const int64_t i = first + int(threadIdx.x);
    const uint32_t own = i < count ? x[i] : 0;
    uint32_t sum = own;  // over the lanes up to this one
    for (int step = 1; step < warp_size; step *= 2) {
      const uint32_t other = __shfl_up_sync(whole_warp, sum, unsigned(step));
      if (lane >= step) sum += other;
    }
    if (lane == warp_size - 1) warp_total[warp] = sum;
    __syncthreads();
    uint32_t below = 0, all = 0;
    for (int w = 0; w < scan_threads / warp_size; ++w) {
      if (w < warp) below += warp_total[w];
      all += warp_total[w];
    }
    if (i < count) x[i] = before + below + sum - own;
    before += all;
    __syncthreads();
  }
}

// The lanes whose digit is this lane's, among those in `valid`.
TX_DEVICE unsigned peers_of(uint32_t digit, unsigned valid) {
  unsigned peers = valid;
#pragma unroll
  for (int bit = 0; bit < digit_bits; ++bit) {
    const bool set = digit >> bit & 1;
    const unsigned those = __ballot_sync(whole_warp, set);
    peers &= set ? those : ~those;
  }
  return peers;
}

// A warp takes 128 consecutive rows, 32 at a time: the rank of a row is the number of rows of its
// digit before it, in its warp and in the warps before.
__global__ void __launch_bounds__(threads)
    move_to_place(Rows in, int64_t tiles, const uint32_t* place, uint32_t* key, uint32_t* row) {
  __shared__ uint32_t counts[warps * digits];
  const int lane = int(threadIdx.x) % warp_size, warp = int(threadIdx.x) / warp_size;
  for (int w = 0; w < warps; ++w) counts[w * digits + int(threadIdx.x)] = 0;
  __syncthreads();
  const int64_t first = int64_t(blockIdx.x) * tile_rows + warp * (rounds * warp_size) + lane;
  uint32_t* mine = counts + warp * digits;
  uint32_t rank[rounds];
#pragma unroll
  for (int k = 0; k < rounds; ++k) {
    const int64_t i = first + k * warp_size;
    const bool here = i < in.count;
    const uint32_t digit = here ? digit_of(in, i) : 0;
    const unsigned peers = peers_of(digit, __ballot_sync(whole_warp, here));
    const unsigned before = peers & ((1u << lane) - 1);
    rank[k] = mine[digit] + unsigned(__popc(before));
    __syncwarp();
    if (here && before == 0) mine[digit] += unsigned(__popc(peers));
    __syncwarp();
  }
  __syncthreads();
  uint32_t at = place[int64_t(threadIdx.x) * tiles + blockIdx.x];  // of digit threadIdx.x
  for (int w = 0; w < warps; ++w) {
    const uint32_t own = counts[w * digits + int(threadIdx.x)];
    counts[w * digits + int(threadIdx.x)] = at;
    at += own;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < rounds; ++k) {
    const int64_t i = first + k * warp_size;
    if (i >= in.count) continue;
    const uint32_t to = mine[digit_of(in, i)] + rank[k];
    key[to] = in.key[i];
    row[to] = in.row ? in.row[i] : uint32_t(i);
  }
}

size_t array_bytes(int64_t count) { return (size_t(count) * sizeof(uint32_t) + 255) / 256 * 256; }

}  // namespace

size_t sort_bytes(int64_t count) {
  return 4 * array_bytes(count) + array_bytes(int64_t(blocks_of(count, tile_rows)) * digits);
}

SortedRows sort_rows(const Cuda::State& state, const uint32_t* keys, int64_t count, int64_t limit,
                     void* scratch) {
  const int64_t tiles = blocks_of(count, tile_rows);
  const auto array = [&](int i) {
    return reinterpret_cast<uint32_t*>(static_cast<char*>(scratch) + i * array_bytes(count));
  };
  uint32_t* place = array(4);
  Rows in{keys, nullptr, count, 0};
  for (int pass = 0; pass == 0 || (limit - 1) >> (pass * digit_bits) != 0; ++pass) {
    in.shift = pass * digit_bits;
    uint32_t *key = array(pass % 2 * 2), *row = array(pass % 2 * 2 + 1);
    launch(state, count_digits, unsigned(tiles), threads, 0, in, tiles, place);
    launch(state, sum_before, 1, scan_threads, 0, place, tiles * digits);
    launch(state, move_to_place, unsigned(tiles), threads, 0, in, tiles, place, key, row);
    in.key = key;
    in.row = row;
  }
  return {in.key, in.row};
}

}  // namespace tx
