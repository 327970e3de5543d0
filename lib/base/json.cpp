#include "lib/base/json.h"

#include <cmath>

#include "lib/base/error.h"

namespace tx {

namespace {

void require_finite(const Json& value) {
  if (value.is_number_float()) TX_ASSERT(std::isfinite(value.get<double>()));
  if (value.is_structured()) {
    for (const auto& element : value) require_finite(element);
  }
}

// Values are copied, compared and printed by functions that call themselves level by level.
constexpr int deepest = 100;

void require_shallow(std::string_view text, const std::string& where) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ']' || c == '}') --depth;
    if ((c == '[' || c == '{') && ++depth > deepest)
      throw DataError(where + ": JSON nested deeper than " + std::to_string(deepest) +
                      " levels at byte " + std::to_string(i + 1));
  }
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where) {
  require_shallow(text, where);
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const nlohmann::json::parse_error& e) {
    throw DataError(where + ": not valid JSON at byte " + std::to_string(e.byte));
  } catch (const nlohmann::json::exception& e) {
    throw DataError(where + ": not usable JSON: " + e.what());
  }
}

std::string to_text(const Json& value, int indent) {
  require_finite(value);
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tx
