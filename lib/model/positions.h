// The sinusoids of section 3.5 of the paper.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/backend.h"

namespace tx {

// PE(position, 2i) = sin(position / 10000^(2i / D)), PE(position, 2i+1) the cosine; in double.
std::vector<double> sinusoid(int64_t position, int64_t d_model);

// The first `length` of them in the backend's memory: (length, D), row = position.
class Sinusoids {
 public:
  Sinusoids(Backend& backend, int64_t length, int64_t d_model, DType dtype);  // f32 or f64
  ~Sinusoids();
  Sinusoids(const Sinusoids&) = delete;
  Sinusoids& operator=(const Sinusoids&) = delete;
  Matrix table() const { return table_; }

 private:
  Backend& backend_;
  Matrix table_;
};

}  // namespace tx
