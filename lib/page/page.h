// Self-contained HTML pages and colours. A page is one file with its styles, scripts and data; it
// loads nothing from the network. Styles and scripts are the files of lib/page/parts (base.css,
// dom.js, palette.js and interaction.js are in every page), lib/attention/page and lib/report/page,
// which the build embeds in the library; all scripts of a page share one scope, in the given order.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/json.h"

namespace tx {

struct PageSpec {
  std::string title;                 // plain text, like all fields
  std::vector<std::string> notices;  // shown first
  std::string footer;
  // Paths such as "lib/page/parts/chart.js"; a Bug if one does not exist.
  std::vector<std::string> styles, scripts;
  // Scripts of a Web Worker, which the page's scripts start: the text of the element "engine".
  std::vector<std::string> worker;
  // Texts of elements, by id, which scripts read; none may contain markup, such as base64.
  std::vector<std::pair<std::string, std::string>> texts;
};

// The HTML file. Its scripts read `json` as `data`; strings in it may hold any text.
std::string html_page(const PageSpec& spec, std::string_view json);

// The same JSON with characters escaped that could end the script element or its line.
std::string script_safe(std::string_view json);
std::string html_escaped(std::string_view text);

// Long arrays as base64 of little-endian 16-bit numbers. base64_shares: values from 0 to 1, in
// units of 1/65535; scaled_numbers: {"scale": s, "data": signed multiples of s}, where s is the
// largest absolute value / 32767.
std::string base64(std::string_view bytes);
std::string base64_shares(std::span<const float> values);
Json scaled_numbers(std::span<const float> values);

// "tx-decode 0.1.0", for footers.
std::string made_by(const std::string& tool);

// Colours on white, computed like those of the pages (lib/page/parts/palette.js). oklch_colour():
// "#1f5fa8" from OKLCh (Ottosson 2020), lightness and chroma from 0 to 1, hue in degrees.
// distinct_colour(): categorical colours from index 0; neighbours differ in hue and lightness.
std::string oklch_colour(double lightness, double chroma, double hue);
std::string distinct_colour(int index);

// The embedded files, which lib/page/embed.cmake generates.
struct PagePart {
  std::string_view path, text;
};
extern const PagePart page_parts[];
extern const int page_part_count;

}  // namespace tx
