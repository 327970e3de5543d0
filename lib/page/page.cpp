#include "lib/page/page.h"

#include <algorithm>
#include <cmath>

#include "build_info.h"
#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/page/parts.h"

namespace tx {

namespace {

// Nothing may be loaded, from anywhere.
constexpr const char* policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

std::string_view part(const std::string& path) {
  for (int i = 0; i < page_part_count; ++i)
    if (page_parts[i].path == path) return page_parts[i].text;
  throw Bug(("there is a page part " + path).c_str(), __FILE__, __LINE__);
}

std::string joined(const std::vector<std::string>& paths) {
  std::string out;
  for (const std::string& path : paths) out += part(path);
  return out;
}

std::string base64_units(const std::vector<uint16_t>& units) {
  std::string bytes;
  bytes.reserve(2 * units.size());
  for (const uint16_t unit : units) {
    bytes += char(unit & 0xFF);
    bytes += char(unit >> 8);
  }
  return base64(bytes);
}

}  // namespace

std::string script_safe(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i, 3);
    if (json[i] == '<' || json[i] == '>' || json[i] == '&') {
      out += json[i] == '<' ? "\\u003c" : json[i] == '>' ? "\\u003e" : "\\u0026";
    } else if (rest == "\u2028" || rest == "\u2029") {
      out += rest == "\u2028" ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += json[i];
    }
  }
  return out;
}

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string base64(std::string_view bytes) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) group = group << 8 | (j < count ? uint8_t(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j) out += j <= count ? digits[group >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

std::string base64_shares(std::span<const float> values) {
  std::vector<uint16_t> units;
  for (const float x : values)
    units.push_back(uint16_t(std::lround(65535 * std::clamp(double(x), 0.0, 1.0))));
  return base64_units(units);
}

Json scaled_numbers(std::span<const float> values) {
  double largest = 0;
  for (const float x : values) largest = std::max(largest, std::abs(double(x)));
  const double scale = largest > 0 ? largest / 32767 : 1;
  std::vector<uint16_t> units;
  for (const float x : values) units.push_back(uint16_t(int16_t(std::lround(double(x) / scale))));
  return {{"scale", scale}, {"data", base64_units(units)}};
}

std::string made_by(const std::string& tool) { return tool + " " TX_VERSION; }

std::string html_page(const PageSpec& spec, std::string_view json) {
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + std::string(policy) + "\">\n";
  out += "<title>" + html_escaped(spec.title) + "</title>\n";
  out += "<style>\n" + joined(spec.styles) + "</style>\n</head>\n<body>\n";
  out += "<header><h1>" + html_escaped(spec.title) + "</h1>\n";
  for (const std::string& notice : spec.notices)
    out += "<p class=\"notice\">" + html_escaped(notice) + "</p>\n";
  out += "</header>\n<main><noscript>This page needs JavaScript, its own.</noscript></main>\n";
  out += "<footer>" + html_escaped(spec.footer) + "</footer>\n";
  out += "<script type=\"application/json\" id=\"data\">" + script_safe(json) + "</script>\n";
  out += "<script>\n(() => {\n'use strict';\n" + joined(spec.scripts) + "})();\n</script>\n";
  return out + "</body>\n</html>\n";
}

void write_page(const std::string& path, const std::string& page) {
  if (path != "-") return write_atomically(path, page);
  Writer out(path);
  out.write(page);
  out.close();
}

}  // namespace tx
