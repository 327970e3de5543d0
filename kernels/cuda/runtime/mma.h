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
#endif

}  // namespace tx
