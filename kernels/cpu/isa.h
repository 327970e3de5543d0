// Which instructions of the processor our own kernels use; oneDNN and BLAS choose theirs.
#pragma once

namespace tx {

// The instruction sets by which our kernels differ; each has those before it.
enum class IsaLimit {
  sse41,
  avx2,
  avx2_vnni,
  avx512_core,
  avx512_core_vnni,
  avx512_core_bf16,
  avx512_core_amx,
  all
};
// The newest that may be used: the one that TX_MAX_ISA names, all where it is not set or empty.
// Error that lists the names for any other.
IsaLimit isa_limit();

// Bytes of the registers in use: 64, 32 or 16.
int register_bytes();
// Whether these are of 64 bytes and the processor rounds them to bf16 (AVX-512 BF16).
bool registers_round();

}  // namespace tx
