// The names that --precision takes.
#pragma once
#include "kernels/view.h"
#include "lib/base/named.h"

namespace tx {

template <>
struct Names<DType> {
  static constexpr NameOf<DType> list[] = {
      {"fp32", DType::f32}, {"bf16", DType::bf16}, {"int8", DType::i8}};
};

// The type that activations of a training are stored in; a Bug where `name` is none.
inline DType precision_dtype(const std::string& name) { return value_of_name<DType>(name); }

}  // namespace tx
