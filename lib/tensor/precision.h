// The names that --precision takes.
#pragma once
#include "kernels/view.h"
#include "lib/base/named.h"

namespace tx {

template <>
struct Names<DType> {
  static constexpr NameOf<DType> list[] = {{"fp32", DType::f32}, {"bf16", DType::bf16}};
};

// The type that activations are stored in; a Bug where `name` is neither.
inline DType precision_dtype(const std::string& name) { return value_of_name<DType>(name); }

}  // namespace tx
