// Tensor-core and asynchronous-copy instructions of compute capability 8.0 and above, named. The
// layouts are those of the PTX manual: "Matrix fragments for mma.m16n8k16" and "ldmatrix".
#pragma once
#include "kernels/cuda/runtime/device.h"

namespace tx {

#ifdef TX_EMULATED_CUDA
using emulator::copy_async_commit;
using emulator::copy_async_wait;
using emulator::ldmatrix_x4;
using emulator::ldmatrix_x4_transposed;
using emulator::mma_bf16;
using emulator::wgmma_64x128;
using emulator::wgmma_commit;
using emulator::wgmma_wait;
TX_DEVICE void wgmma_show_shared() {}
TX_DEVICE void wgmma_fence() {}
TX_DEVICE void copy_async_16(void* shared, const void* global, int bytes) {
  emulator::copy_async(shared, global, bytes);
}
TX_DEVICE void copy_async_16_or_zero(void* shared, const void* global, bool inside) {
  emulator::copy_async(shared, global, inside ? 16 : 0);
}
#else

// c (16 x 8, f32) += a (16 x 16, bf16, row-major) b (16 x 8, bf16, column-major), one warp.
// With g = lane / 4, t = lane % 4: c[0], c[1] = row g, columns 2t, 2t + 1; c[2], c[3] = row g + 8.
// a[0] = row g, columns 2t and 2t + 1; a[1] = row g + 8; a[2], a[3] = the same 8 columns on.
// b[0] = rows 2t and 2t + 1 of column g; b[1] = 8 rows on.
TX_DEVICE void mma_bf16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Four 8 x 8 tiles of 16-bit elements: lane i gives the address of row i % 8 of tile i / 8
// (aligned); r[k] = elements 2t and 2t + 1 of row g of tile k. Transposed: of column g.
TX_DEVICE void ldmatrix_x4(uint32_t (&r)[4], const void* row) {
  const uint32_t at = uint32_t(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at)
               : "memory");
}
TX_DEVICE void ldmatrix_x4_transposed(uint32_t (&r)[4], const void* row) {
  const uint32_t at = uint32_t(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at)
               : "memory");
}

// 16 aligned bytes from global to shared memory, zero after the first `bytes`; see wait().
TX_DEVICE void copy_async_16(void* shared, const void* global, int bytes) {
  const uint32_t at = uint32_t(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(global), "r"(bytes)
               : "memory");
}
// All 16 bytes if `inside`, else zeros. A variable number of bytes takes eight more instructions.
TX_DEVICE void copy_async_16_or_zero(void* shared, const void* global, bool inside) {
  const uint32_t at = uint32_t(__cvta_generic_to_shared(shared));
  asm volatile(
      "{\n.reg .pred outside;\nsetp.eq.b32 outside, %2, 0;\n"
      "cp.async.cg.shared.global [%0], [%1], 16, outside;\n}" ::"r"(at),
      "l"(global), "r"(int(inside))
      : "memory");
}
TX_DEVICE void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most `groups` of the committed groups are under way.
template <int groups>
TX_DEVICE void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// Products of a warpgroup, four warps, of compute capability 9.0 only: "Asynchronous warpgroup
// level matrix instructions" of the PTX manual. A matrix of rows of 64 bf16, 128 bytes, at a
// multiple of 1,024 bytes, whose chunks of 16 bytes are permuted by the row's number, or its
// columns from a multiple of 16 on.
TX_DEVICE uint64_t wgmma_matrix(const void* shared) {
  constexpr uint64_t permuted = 1, group_of_rows = 1024 / 16, unused = 1;
  const uint64_t at = __cvta_generic_to_shared(shared);
  return permuted << 62 | group_of_rows << 32 | unused << 16 | (at >> 4 & 0x3fff);
}
#define TX_4(i) "+f"(c[i][0]), "+f"(c[i][1]), "+f"(c[i][2]), "+f"(c[i][3])
#define TX_SUMS                                                                             \
  TX_4(0), TX_4(1), TX_4(2), TX_4(3), TX_4(4), TX_4(5), TX_4(6), TX_4(7), TX_4(8), TX_4(9), \
      TX_4(10), TX_4(11), TX_4(12), TX_4(13), TX_4(14), TX_4(15)
// c (64 x 128, f32) = a (64 x 16) b (128 x 16)^T, plus c if `add`. Warp w of the four has rows 16 w
// to 16 w + 15: c[j] is as in mma_bf16, of columns from 8 j on. It may be used after wgmma_wait().
TX_DEVICE void wgmma_64x128(float (&c)[16][4], const void* a, const void* b, bool add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"
      "%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, add, 1, 1, 0, "
      "0;\n}"
      : TX_SUMS
      : "l"(wgmma_matrix(a)), "l"(wgmma_matrix(b)), "r"(int(add))
      : "memory");
}
// Shows the products what this thread has written to shared memory; a barrier must follow.
TX_DEVICE void wgmma_show_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Before the products that follow other uses of c.
TX_DEVICE void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
TX_DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits until at most `groups` of the committed groups are under way.
template <int groups>
TX_DEVICE void wgmma_wait(float (&c)[16][4]) {
  asm volatile("wgmma.wait_group.sync.aligned %64;" : TX_SUMS : "n"(groups) : "memory");
}
#undef TX_4
#undef TX_SUMS
#endif
#endif

}  // namespace tx
