#include "lib/page/palette.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tx {

namespace {

int encoded(double linear) {
  const double x = std::clamp(linear, 0.0, 1.0);
  const double gamma = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
  return int(std::lround(255 * gamma));
}

}  // namespace

std::string oklch_colour(double lightness, double chroma, double hue) {
  const double angle = hue * M_PI / 180, a = chroma * std::cos(angle), b = chroma * std::sin(angle);
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.291485548 * b, 3);
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x",
                encoded(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                encoded(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                encoded(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s));
  return text;
}

std::string distinct_colour(int index) {
  static constexpr int count = 8;
  static constexpr double hues[count] = {255, 55, 160, 345, 95, 215, 25, 300};
  static constexpr double lightness[count] = {0.5, 0.62, 0.6, 0.58, 0.7, 0.66, 0.48, 0.45};
  const int place = index % count, turn = index / count;
  return oklch_colour(lightness[place] - 0.06 * (turn % 3), 0.14, hues[place] + 22 * turn);
}

}  // namespace tx
