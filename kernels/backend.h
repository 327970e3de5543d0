// Creates backends; backend->NAME(...) calls a kernel. The library of a backend, libtx-cpu.so with
// OpenBLAS, oneDNN and OpenMP, or libtx-cuda.so, is loaded by the first function here that needs
// it, so that tools without matrix products never load them. Error if that fails.
#pragma once
#include <string>

#include "kernels/kernels.h"

namespace tx {

// "cpu", "cuda", or "auto": cuda if there is a GPU. UsageError, with the reason: unusable.
Backend make_backend(const std::string& device, int threads);
// Later backends of this process use GPU `number` from 0, modulo the number of GPUs. Default: 0.
void choose_gpu(int number);
// Sets the number of threads for CPU kernels called from this thread to `threads`, or to as many as
// can be started; returns that number. On a GPU, which uses none, it must be called in every thread
// that uses a backend made by another thread.
int set_threads(Backend& backend, int threads);
// "auto" resolved to "cpu" or "cuda"; others unchanged.
std::string resolve_device(const std::string& device);
// Why no GPU can be used; empty when one can.
std::string no_gpu_reason();
AutoPrecision auto_precision(const std::string& device);  // of a resolved device
// Lines for --version about every backend, or the reason why one cannot be loaded.
std::string describe_backends();
std::string describe_cpu();  // those about the CPU: libraries and instructions
// Why bytes cannot be moved between GPUs of several processes; empty when they can.
std::string no_mover_reason();
std::string describe_movers();  // a line for --version

}  // namespace tx
