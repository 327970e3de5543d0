#include "lib/page/page.h"

#include <algorithm>
#include <cmath>

#include "build_info.h"
#include "lib/base/error.h"
#include "lib/base/figure.h"

namespace tx {

namespace {

// Loading anything from the network is forbidden.
constexpr const char* policy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'unsafe-inline'";
// A worker's script is a blob, made from text in the page; it may compile WebAssembly.
constexpr const char* worker_policy = " 'wasm-unsafe-eval'; worker-src blob:";

std::string_view part(const std::string& path) {
  for (int i = 0; i < page_part_count; ++i)
    if (page_parts[i].path == path) return page_parts[i].text;
  throw Bug(("page part " + path + " exists").c_str(), __FILE__, __LINE__);
}

std::string joined(std::vector<std::string> paths, const std::vector<std::string>& more) {
  paths.insert(paths.end(), more.begin(), more.end());
  std::string out;
  for (const std::string& path : paths) out += part(path);
  return out;
}

// An element that scripts read and the browser neither runs nor shows.
std::string text_element(const std::string& id, std::string_view text) {
  TX_ASSERT(text.find("</script") == text.npos && text.find("<!--") == text.npos);
  return "<script type=\"text/plain\" id=\"" + id + "\">" + std::string(text) + "</script>\n";
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

int srgb_byte(double linear) {
  const double x = std::clamp(linear, 0.0, 1.0);
  const double gamma = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
  return int(std::lround(255 * gamma));
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
  for (const char c : text)
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

std::string oklch_colour(double lightness, double chroma, double hue) {
  const double angle = hue * M_PI / 180, a = chroma * std::cos(angle), b = chroma * std::sin(angle);
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.291485548 * b, 3);
  return formatted("#%02x%02x%02x",
                   srgb_byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                   srgb_byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                   srgb_byte(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s));
}

std::string distinct_colour(int index) {
  static constexpr int count = 8;
  static constexpr double hues[count] = {255, 55, 160, 345, 95, 215, 25, 300};
  static constexpr double lightness[count] = {0.5, 0.62, 0.6, 0.58, 0.7, 0.66, 0.48, 0.45};
  const int place = index % count, turn = index / count;
  return oklch_colour(lightness[place] - 0.06 * (turn % 3), 0.14, hues[place] + 22 * turn);
}

std::string html_page(const PageSpec& spec, std::string_view json) {
  const std::string parts = "lib/page/parts/";
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + std::string(policy) +
         (spec.worker.empty() ? "" : worker_policy) + "\">\n";
  out += "<title>" + html_escaped(spec.title) + "</title>\n";
  out += "<style>\n" + joined({parts + "base.css"}, spec.styles) + "</style>\n</head>\n<body>\n";
  out += "<header><h1>" + html_escaped(spec.title) + "</h1>\n";
  for (const std::string& notice : spec.notices)
    out += "<p class=\"notice\">" + html_escaped(notice) + "</p>\n";
  out += "</header>\n<main><noscript>This page needs JavaScript.</noscript></main>\n";
  out += "<footer>" + html_escaped(spec.footer) + "</footer>\n";
  out += "<script type=\"application/json\" id=\"data\">" + script_safe(json) + "</script>\n";
  if (!spec.worker.empty()) out += text_element("engine", joined({}, spec.worker));
  for (const auto& [id, text] : spec.texts) out += text_element(id, text);
  out += "<script>\n(() => {\n'use strict';\n" +
         joined({parts + "dom.js", parts + "palette.js", parts + "interaction.js"}, spec.scripts) +
         "})();\n</script>\n";
  return out + "</body>\n</html>\n";
}

}  // namespace tx
