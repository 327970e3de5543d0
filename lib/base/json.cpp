#include "lib/base/json.h"

#include <cmath>

#include "lib/base/error.h"
#include "lib/base/figure.h"

namespace tx {

namespace {

void require_finite(const Json& value) {
  if (value.is_number_float()) TX_ASSERT(std::isfinite(value.get<double>()));
  if (value.is_structured()) {
    for (const auto& element : value) require_finite(element);
  }
}

// Copying, comparing and printing values is recursive: the stack limits the depth.
constexpr int max_depth = 100;

void require_shallow(std::string_view text, const std::string& where) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ']' || c == '}') --depth;
    if ((c == '[' || c == '{') && ++depth > max_depth)
      throw DataError(where + ": JSON nested deeper than " + std::to_string(max_depth) +
                      " levels at byte " + std::to_string(i + 1));
  }
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where, const char* without) {
  require_shallow(text, where);
  const auto keep = [&](int depth, Json::parse_event_t event, const Json& value) {
    return depth != 1 || event != Json::parse_event_t::key || value != without;
  };
  try {
    if (without == nullptr) return Json::parse(text.begin(), text.end());
    return Json::parse(text.begin(), text.end(), keep);
  } catch (const nlohmann::json::parse_error& e) {
    throw DataError(where + ": not valid JSON at byte " + std::to_string(e.byte));
  } catch (const nlohmann::json::out_of_range&) {
    throw DataError(where + ": not usable JSON: a number is too large");
  }
}

std::string to_text(const Json& value, int indent) {
  require_finite(value);
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string shown(std::string_view text) { return to_text(Json(std::string(text.substr(0, 100)))); }

int64_t whole_number(const Json& object, const char* key, int64_t min, int64_t max) {
  const auto refuse = [&] {
    throw DataError(std::string(key) + " is not a whole number from " + grouped(double(min)) +
                    " to " + grouped(double(max)));
  };
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end() || !found->is_number_integer()) refuse();
  if (found->is_number_unsigned() && found->get<uint64_t>() > uint64_t(INT64_MAX)) refuse();
  const int64_t value = found->get<int64_t>();
  if (value < min || value > max) refuse();
  return value;
}

void json_value_detail::refuse(const Json& object, const char* key, const std::string& where,
                               const char* wanted) {
  const std::string name = where + ": " + key;
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end()) throw DataError(name + " is missing; it must be " + wanted);
  std::string text = to_text(*found);
  if (text.size() > 60) text = text.substr(0, 60) + "...";
  if (found->is_array() && wanted == std::string_view("a list"))
    throw DataError(name + " is " + text + ": an element is of the wrong type");
  throw DataError(name + " is " + text + ", not " + wanted);
}

}  // namespace tx
