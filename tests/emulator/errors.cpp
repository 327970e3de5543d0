// Names and messages of CUDA errors.
#include <algorithm>

#include "tests/emulator/cuda_runtime.h"

namespace {

struct ErrorWords {
  cudaError_t error;
  const char *name, *words;
};
constexpr ErrorWords errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
};
const ErrorWords& words_of(cudaError_t e) {
  return *std::find_if(std::begin(errors), std::end(errors) - 1,
                       [&](const ErrorWords& w) { return w.error == e; });
}

}  // namespace

const char* cudaGetErrorName(cudaError_t e) { return words_of(e).name; }
const char* cudaGetErrorString(cudaError_t e) { return words_of(e).words; }
