// The answers about CUDA of a build without it.
#include "build_info.h"
#include "kernels/cuda/probe.h"

#if !TX_HAVE_CUDA
namespace tx {
std::string cuda_description() { return "built without CUDA"; }
std::string cuda_refusal() { return "built without CUDA (cmake -DTX_CUDA=ON)"; }
}  // namespace tx
#endif
