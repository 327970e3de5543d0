#include "lib/base/duration.h"

#include <cmath>
#include <cstdio>

namespace tx {

namespace {

constexpr double hour = 3600, day = 24 * hour;

}  // namespace

std::string about(double seconds) {
  const auto text = [&](double unit, const char* name) {
    return std::to_string(std::llround(seconds / unit)) + " " + name;
  };
  if (seconds < 120) return text(1, "seconds");
  if (seconds < 2 * hour) return text(60, "minutes");
  return seconds < 2 * day ? text(hour, "hours") : text(day, "days");
}

std::string duration(double seconds) {
  if (seconds >= 2 * day) return about(seconds);
  const long long s = std::llround(seconds);
  char text[32];
  std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  return text;
}

}  // namespace tx
