// A page: one HTML file that holds its style, its scripts and its data, and asks the network for
// nothing. Style and scripts are the files of lib/page/parts, lib/attention/page and
// lib/report/page, which the build puts into the library as they are; all scripts of a page share
// one scope, in the order given.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/json.h"

namespace tx {

struct PageSpec {
  std::string title;                 // plain text, as all of the following
  std::vector<std::string> notices;  // what a reader has to know first
  std::string footer;
  std::vector<std::string> styles, scripts;  // "lib/page/parts/base.css"; a Bug if there is none
};

// The file. `json` is what the scripts read as `data`; any text may stand in its strings.
std::string html_page(const PageSpec& spec, std::string_view json);

// Writes a page as a whole or not at all; "-" is standard output.
void write_page(const std::string& path, const std::string& page);

// The same JSON without what could end a script element or a line of it.
std::string script_safe(std::string_view json);
std::string html_escaped(std::string_view text);

// Long arrays: base64 of little-endian 16-bit numbers. shares: of 0 to 1, in units of 1/65535;
// scaled: {"scale": s, "data": signed multiples of s}, s being the largest absolute value / 32767.
std::string base64(std::string_view bytes);
std::string base64_shares(std::span<const float> values);
Json scaled_numbers(std::span<const float> values);

// "tx-decode 0.1.0", for footers.
std::string made_by(const std::string& tool);

}  // namespace tx
