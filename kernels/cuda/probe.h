// What CUDA offers on this machine. Answers in a build without CUDA too (kernels/probe_none.cpp).
#pragma once
#include <string>

namespace tx {

std::string cuda_description();  // "built without CUDA", or runtime, driver and the GPUs found
std::string cuda_refusal();      // why --device cuda cannot be had
}  // namespace tx
