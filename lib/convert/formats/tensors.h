// The tensors of a foreign model, whatever format they came in.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/int8.h"

namespace tx {

// A tensor in bytes that lie elsewhere.
struct ForeignTensor {
  std::string dtype;  // as safetensors calls it: "F32", "F16", "BF16", "F64", "I64", ...
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements; empty: rows one behind another
  std::string_view bytes;        // from its first element on; holds all that the strides reach
  int64_t elements() const;
};

class ForeignTensors {
 public:
  explicit ForeignTensors(std::string where) : where_(std::move(where)) {}
  const std::string& where() const { return where_; }  // for messages

  // Checks that the elements lie inside the bytes; DataError otherwise, or where the name is known.
  void add(const std::string& name, ForeignTensor tensor);
  void keep(std::shared_ptr<const void> bytes) { kept_.push_back(std::move(bytes)); }
  const std::map<std::string, ForeignTensor>& all() const { return tensors_; }
  const ForeignTensor* find(const std::string& name) const;  // null when absent
  const ForeignTensor& at(const std::string& name) const;    // DataError that names it

  // The tensor as floats, by rows. It must be of floating point and of this shape (leading
  // dimensions of 1 apart); {n} is one row of n. DataError names both shapes. This object must
  // outlive the rows.
  WeightRows rows(const std::string& name, const std::vector<int64_t>& shape) const;

 private:
  std::string where_;
  std::map<std::string, ForeignTensor> tensors_;
  std::vector<std::shared_ptr<const void>> kept_;
};

float from_half(uint16_t bits);  // IEEE 754 binary16

}  // namespace tx
