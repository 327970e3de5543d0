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

// The end of a range: 100000 as "100,000", 0.01 as "0.01", 1e-12 as "1e-12".
std::string limit_text(double value);

// x, or null where it is not finite: JSON has no number for that.
Json finite_or_null(double x);

}  // namespace tx
