// Numbers and durations in messages and JSON. tx-bleu formats its scores itself.
#pragma once
#include <cstdint>
#include <string>

#include "lib/base/json.h"

namespace tx {

// "12.346" with 3 `decimals`; from a million on "1.2e+45"; "nan", "inf" and "-inf" if not finite.
std::string figure(double x, int decimals);

// As by printf.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

// A count in text for people: "9876", but from 10,000 with commas, "34,920".
std::string with_commas(int64_t n);
// The same with its noun: "1 step", "2 steps", "34,920 steps".
std::string counted(int64_t n, const std::string& what);

// All digits, with commas: 100000 as "100,000", 0.01 as "0.01", but 1e-12 as "1e-12".
std::string grouped(double value);

// "50 seconds", "66 minutes", "30 hours", "26 days".
std::string about(double seconds);
// Hours, minutes and seconds as "1:05:10"; two days or more as about().
std::string duration(double seconds);

// x, or null if it is not finite: JSON has no such numbers.
Json finite_or_null(double x);

}  // namespace tx
