// The backend in use; backend->NAME(...) calls a kernel. The library of a backend, libtx-cpu.so
// with OpenBLAS, oneDNN and OpenMP or libtx-cuda.so, is opened by the first function here that
// needs it: a tool that multiplies nothing never loads them. Error where that fails.
#pragma once
#include <string>
#include <utility>

#include "kernels/kernels.h"

namespace tx {

// "cpu", "cuda", or "auto": cuda where there is a GPU. Throws UsageError that says why a device
// cannot be used.
Backend make_backend(const std::string& device, int threads);
// From here on every backend of a GPU in this process is of GPU `number` modulo their count, which
// is counted from 0; without it they take the first.
void choose_gpu(int number);
// Sets how many threads the CPU's kernels use when called from this thread: as many of `threads` as
// can be started, which it returns. On a GPU, which uses none, it is to be called in every thread
// that uses a backend made by another.
int set_threads(Backend& backend, int threads);
// "auto" resolved to "cpu" or "cuda"; others unchanged.
std::string resolve_device(const std::string& device);
// Why no GPU can be used; empty when one can.
std::string no_gpu_reason();
// Whether bf16 products run on a (resolved) device at a speed worth choosing.
bool has_fast_bf16(const std::string& device);
// Why bf16 is not possible on a (resolved) device; empty when it is.
std::string no_bf16_reason(const std::string& device);
// Lines for --version about every backend, or the reason why one cannot be loaded.
std::string describe_backends();
// Why bytes cannot be moved between GPUs of several processes; empty when they can.
std::string no_mover_reason();
std::string describe_movers();  // a line for --version

}  // namespace tx
