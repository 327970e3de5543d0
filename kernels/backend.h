// Creates backends; backend->NAME(...) calls a kernel. The library of a backend, libtx-cpu.so with
// OpenBLAS, oneDNN and OpenMP, or libtx-cuda.so, is loaded by the first function here that needs
// it, so that tools without matrix products never load them. Error if that fails.
#pragma once
#include <string>

#include "kernels/kernels.h"
#include "lib/base/named.h"

namespace tx {

enum class Device { automatic, cpu, cuda };  // automatic: cuda if there is a GPU

template <>
inline constexpr const char* name_table<Device>[] = {"auto", "cpu", "cuda"};

// UsageError, with the reason, if the device cannot be used.
Backend make_backend(Device device, int threads);
// Later backends of this process use GPU `number` from 0, modulo the number of GPUs. Default: 0.
void choose_gpu(int number);
// Sets the number of threads for CPU kernels called from this thread to `threads`, or to as many as
// can be started; returns that number. On a GPU, which uses none, it must be called in every thread
// that uses a backend made by another thread.
int set_threads(Backend& backend, int threads);
Device resolve_device(Device device);  // cpu or cuda for automatic; others unchanged
// Why no GPU can be used; empty when one can.
std::string no_gpu_reason();
AutoPrecision auto_precision(Device device);  // of a resolved device
// Lines for --version about every backend, or the reason why one cannot be loaded.
std::string describe_backends();
std::string describe_cpu();  // those about the CPU: libraries and instructions
// Why bytes cannot be moved between GPUs of several processes; empty when they can.
std::string no_mover_reason();
std::string describe_movers();  // a line for --version

}  // namespace tx
