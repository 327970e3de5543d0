// Times the CUDA backend by the GPU's clock, for benchmarks that do not include CUDA's headers.
#pragma once
#include <cstddef>
#include <functional>

namespace tx {

class Cuda;

// Seconds on the GPU for `work`, which calls kernels of this backend. Waits for them.
double seconds_on_gpu(Cuda& cuda, const std::function<void()>& work);
// Copies within device memory by CUDA's own copy, an upper bound for the speed of kernels.
void copy_on_gpu(Cuda& cuda, void* to, const void* from, size_t bytes);

}  // namespace tx
