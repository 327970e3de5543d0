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

}  // namespace

Json parse_json(std::string_view text, const std::string& where) {
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
