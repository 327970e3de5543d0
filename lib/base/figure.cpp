#include "lib/base/figure.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace tx {

std::string figure(double x, int decimals) {
  if (std::isnan(x)) return "nan";
  return std::abs(x) < 1e6 ? formatted("%.*f", decimals, x) : formatted("%.1e", x);
}

std::string formatted(const char* format, ...) {
  va_list values, again;
  va_start(values, format);
  va_copy(again, values);
  std::string text(size_t(std::vsnprintf(nullptr, 0, format, values)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  va_end(values);
  return text;
}

std::string with_commas(int64_t n) { return n < 10000 ? std::to_string(n) : grouped(double(n)); }

std::string counted(int64_t n, const std::string& what) {
  return with_commas(n) + " " + what + (n == 1 ? "" : "s");
}

std::string grouped(double value) {
  const bool tiny = value != 0 && std::abs(value) < 1e-4;
  char digits[400];
  const auto result =
      tiny ? std::to_chars(digits, digits + sizeof digits, value)
           : std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed);
  std::string number(digits, result.ptr);
  const size_t first = number[0] == '-' ? 1 : 0;
  for (size_t i = std::min(number.find('.'), number.size()); !tiny && i > first + 3;)
    number.insert(i -= 3, 1, ',');
  return number;
}

std::string about(double seconds) {
  constexpr double hour = 3600, day = 24 * hour;
  const auto text = [&](double unit, const char* name) {
    return std::to_string(std::llround(seconds / unit)) + " " + name;
  };
  if (seconds < 120) return text(1, "seconds");
  if (seconds < 2 * hour) return text(60, "minutes");
  return seconds < 2 * day ? text(hour, "hours") : text(day, "days");
}

std::string duration(double seconds) {
  if (seconds >= 48 * 3600) return about(seconds);
  const long long s = std::llround(seconds);
  return formatted("%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
}

Json finite_or_null(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

}  // namespace tx
