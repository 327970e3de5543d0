#include "lib/base/figure.h"

#include <cmath>
#include <cstdio>

namespace tx {

std::string figure(double x, int decimals) {
  if (std::isnan(x)) return "nan";
  char text[64];
  if (std::abs(x) < 1e6)
    std::snprintf(text, sizeof text, "%.*f", decimals, x);
  else
    std::snprintf(text, sizeof text, "%.1e", x);
  return text;
}

std::string counted(int64_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

Json finite_or_null(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

}  // namespace tx
