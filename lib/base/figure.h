// Numbers as messages and JSON show them. Scores on standard output have formats of their own.
#pragma once
#include <cstdint>
#include <string>

#include "lib/base/json.h"

namespace tx {

// `decimals` digits behind the point below a million in magnitude ("12.346"), the short form from
// there on ("1.2e+45"); "nan", "inf" and "-inf" for what is not finite, whatever the sign of a NaN.
std::string figure(double x, int decimals);

// "1 step", "2 steps".
std::string counted(int64_t n, const std::string& what);

// x, or null where it is not finite, which JSON has no number for.
Json finite_or_null(double x);

}  // namespace tx
