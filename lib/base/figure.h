// Numbers as messages and JSON show them. Scores on standard output have formats of their own.
#pragma once
#include <cstdint>
#include <string>

#include "lib/base/json.h"

namespace tx {

// Magnitudes below a million have `decimals` digits after the point ("12.346"), larger ones the
// short form ("1.2e+45"). "nan", "inf" and "-inf" if not finite, whatever the sign of a NaN.
std::string figure(double x, int decimals);

// "1 step", "2 steps".
std::string counted(int64_t n, const std::string& what);

// x, or null where it is not finite: JSON has no number for that.
Json finite_or_null(double x);

}  // namespace tx
