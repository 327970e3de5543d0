// Colours for pictures on white paper, computed as the pages' are (lib/page/parts/palette.js).
#pragma once
#include <string>

namespace tx {

// "#1f5fa8": a colour of OKLCh (Ottosson 2020): lightness and chroma from 0 to 1, hue in degrees.
std::string oklch_colour(double lightness, double chroma, double hue);
// Of things without an order, from 0: neighbours differ in hue and in lightness.
std::string distinct_colour(int index);

}  // namespace tx
