#include "lib/eval/report.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tx {

std::string fixed(double value, int digits) {
  const int size = std::snprintf(nullptr, 0, "%.*f", digits, value);
  std::string text(size_t(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  text.pop_back();
  return text;
}

std::string score_line(const Score& score, int width) {
  return score.name + "|" + score.signature + " = " + fixed(score.value, width) + " " +
         score.details;
}

Json score_json(const Score& score, int width) {
  Json json;
  json["name"] = score.name;
  json["score"] = std::strtod(fixed(score.value, width).c_str(), nullptr);
  json["signature"] = score.signature;
  json["verbose_score"] = score.details;
  std::string_view rest = score.signature;
  while (!rest.empty()) {
    const std::string_view setting = rest.substr(0, rest.find('|'));
    const size_t colon = setting.find(':');
    json[std::string(setting.substr(0, colon))] = setting.substr(colon + 1);
    rest.remove_prefix(std::min(rest.size(), setting.size() + 1));
  }
  json["statistics"] = score.statistics;
  return json;
}

}  // namespace tx
