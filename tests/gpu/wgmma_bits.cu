// Do the bits of a product by wgmma depend on its width, and are they those of mma.sync? For
// Hopper:
//   nvcc -std=c++17 -arch=sm_90a wgmma_bits.cu
// a (64,K) is always the operand with 64 rows; b (N,K) has N = 8, 64 or 256 rows, the first 8 of
// them the same. Prints how many of the 64 x 8 sums differ from those of N = 8, of mma.sync
// m16n8k16 in ascending k, and of parts of 256 k added in order; and the largest error against
// doubles, which is about 1e-6 if the descriptors are right. Status 1: an error above 1e-3, or no
// such GPU.
#include <cuda_bf16.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int M = 64, K = 2048, step = 16;

// One step of 16 k without swizzle: the operand is made of 8 x 8 elements, 128 bytes each, the two
// along k next to each other, then the next 8 rows.
__device__ uint64_t descriptor(const void* shared) {
  const uint64_t address = __cvta_generic_to_shared(shared);
  const uint64_t along_k = 128, along_rows = 256;  // bytes
  return (address >> 4 & 0x3fff) | along_k >> 4 << 16 | along_rows >> 4 << 32;
}
__device__ int place(int row, int k) { return row / 8 * 128 + k / 8 * 64 + row % 8 * 8 + k % 8; }

#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D32(i) \
  D4(i), D4(i + 4), D4(i + 8), D4(i + 12), D4(i + 16), D4(i + 20), D4(i + 24), D4(i + 28)
__device__ void wgmma(float (&d)[4], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
      : D4(0)
      : "l"(a), "l"(b));
}
__device__ void wgmma(float (&d)[32], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"
      "%25,%26,%27,%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, 0;"
      : D32(0)
      : "l"(a), "l"(b));
}
__device__ void wgmma(float (&d)[128], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"
      "%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,"
      "%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,"
      "%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,"
      "%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127}, %128, %129, 1, "
      "1, 1, 0, 0;"
      : D32(0), D32(32), D32(64), D32(96)
      : "l"(a), "l"(b));
}

// c (64,N); 128 threads. The sums of `part` k are one chain; parts are added in order.
template <int N>
__global__ void __launch_bounds__(128)
    by_wgmma(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int part) {
  __shared__ __align__(128) __nv_bfloat16 left[M * step], right[N * step];
  float total[N / 2] = {}, d[N / 2];
  for (int k0 = 0; k0 < K; k0 += part) {
    for (float& x : d) x = 0;
    for (int k = k0; k < k0 + part; k += step) {
      for (int i = threadIdx.x; i < M * step; i += 128)
        left[place(i / step, i % step)] = a[i / step * K + k + i % step];
      for (int i = threadIdx.x; i < N * step; i += 128)
        right[place(i / step, i % step)] = b[i / step * K + k + i % step];
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncthreads();
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      wgmma(d, descriptor(left), descriptor(right));
      asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::
                       : "memory");
      __syncthreads();
    }
    for (int i = 0; i < N / 2; ++i) total[i] = k0 == 0 ? d[i] : total[i] + d[i];
  }
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (int i = 0; i < N / 2; ++i)
    c[(warp * 16 + g + i / 2 % 2 * 8) * N + i / 4 * 8 + t * 2 + i % 2] = total[i];
}

// c (64,8), a warp for 16 rows.
__global__ void by_mma(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const auto pair = [](const __nv_bfloat16* at) { return *reinterpret_cast<const uint32_t*>(at); };
  float d[4] = {};
  for (int k = 0; k < K; k += step) {
    const __nv_bfloat16 *x = a + (warp * 16 + g) * K + k + t * 2, *y = b + g * K + k + t * 2;
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, "
        "{%0,%1,%2,%3};"
        : D4(0)
        : "r"(pair(x)), "r"(pair(x + 8 * K)), "r"(pair(x + 8)), "r"(pair(x + 8 * K + 8)),
          "r"(pair(y)), "r"(pair(y + 8)));
  }
  for (int i = 0; i < 4; ++i) c[(warp * 16 + g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
}

std::vector<float> first_columns(const float* c, int n) {
  std::vector<float> all(size_t(M * n)), out;
  const cudaError_t error = cudaMemcpy(all.data(), c, all.size() * 4, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) {
    std::printf("FAILED: %s\n", cudaGetErrorString(error));
    std::exit(1);
  }
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < 8; ++j) out.push_back(all[size_t(i * n + j)]);
  return out;
}

int main() {
  std::vector<__nv_bfloat16> a(size_t(M * K)), b(size_t(256 * K));
  uint32_t state = 1;
  const auto draw = [&] {
    state = state * 1664525 + 1013904223;
    return float(int32_t(state)) / 2147483648.f;
  };
  for (auto* side : {&a, &b})
    for (auto& x : *side) x = __float2bfloat16(draw());
  __nv_bfloat16 *da, *db;
  float* c;
  cudaMalloc(&da, a.size() * 2), cudaMalloc(&db, b.size() * 2), cudaMalloc(&c, size_t(M) * 256 * 4);
  cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyHostToDevice);
  std::vector<std::vector<float>> out;
  const auto keep = [&](int n) { out.push_back(first_columns(c, n)); };
  by_wgmma<8><<<1, 128>>>(da, db, c, K), keep(8);
  by_wgmma<64><<<1, 128>>>(da, db, c, K), keep(64);
  by_wgmma<256><<<1, 128>>>(da, db, c, K), keep(256);
  by_mma<<<1, 128>>>(da, db, c), keep(8);
  by_wgmma<8><<<1, 128>>>(da, db, c, 256), keep(8);
  by_wgmma<256><<<1, 128>>>(da, db, c, 256), keep(256);
  const char* names[] = {"wgmma, N 8", "wgmma, N 64",           "wgmma, N 256",
                         "mma.sync",   "N 8 in parts of 256 k", "N 256 in parts of 256 k"};
  bool bad = false;
  for (size_t r = 0; r < out.size(); ++r) {
    int differs = 0, parts = 0;
    double worst = 0;
    for (int i = 0; i < M * 8; ++i) {
      double sum = 0;
      for (int k = 0; k < K; ++k)
        sum += double(__bfloat162float(a[size_t(i / 8 * K + k)])) *
               __bfloat162float(b[size_t(i % 8 * K + k)]);
      differs += out[r][size_t(i)] != out[0][size_t(i)];
      parts += out[r][size_t(i)] != out[4][size_t(i)];
      worst = std::fmax(worst, std::fabs(out[r][size_t(i)] - sum) / std::sqrt(double(K)));
    }
    bad = bad || !(worst < 1e-3);
    std::printf("%-24s %3d of %d differ from N 8, %3d from N 8 in parts; largest error %.1e\n",
                names[r], differs, M * 8, parts, worst);
  }
  return bad;
}
