// The backend in use. With a second backend this variant grows; on() visits the one in use.
#pragma once
#include <string>
#include <utility>
#include <variant>

#include "kernels/cpu.h"

namespace tx {

using Backend = std::variant<Cpu>;

template <class F>
decltype(auto) on(Backend& backend, F&& f) {
  return std::visit(std::forward<F>(f), backend);
}

// "cpu" or "cuda"; throws UsageError that says why a device is not to be had.
Backend make_backend(const std::string& device, int threads);
// Lines for --version about every backend.
std::string describe_backends();

}  // namespace tx
