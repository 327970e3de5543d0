// Learning rates (tx-paper(7), 5.3). Steps count from 1.
#pragma once
#include <cstdint>
#include <string>

namespace tx {

struct Schedule {
  std::string kind = "paper";  // paper, inverse-sqrt, cosine, linear, constant
  int64_t d_model = 512, warmup = 4000, steps = 0;
  double lr = 0, factor = 1;
  double rate(int64_t step) const;
};

}  // namespace tx
