#include "lib/base/philox.h"

#include <cmath>

namespace tx {

double PhiloxStream::normal() {
  const double u = 1.0 - uniform(), v = uniform();  // u in (0, 1]: its logarithm is finite
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * M_PI * v);
}

}  // namespace tx
