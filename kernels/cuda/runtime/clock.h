// Times what the CUDA backend does, by the GPU's own clock: for benchmarks, which then need none of
// CUDA's headers.
#pragma once
#include <cstddef>
#include <functional>

namespace tx {

class Cuda;

// Seconds from the beginning to the end of `work`, which calls kernels of this backend. Waits for
// them.
double seconds_on_gpu(Cuda& cuda, const std::function<void()>& work);
// Copies within device memory by CUDA's own copy: no kernel that moves memory can be faster.
void copy_on_gpu(Cuda& cuda, void* to, const void* from, size_t bytes);

}  // namespace tx
