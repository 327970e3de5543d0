// JSON. The only file that includes nlohmann/json. Objects keep the insertion order of their keys.
#pragma once
#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tx {

using Json = nlohmann::ordered_json;

// Parses a JSON text of at most 100 levels, without the member `without`. DataError from `where`.
Json parse_json(std::string_view text, const std::string& where, const char* without = nullptr);

// Compact text on one line; invalid UTF-8 becomes U+FFFD. A NaN or an infinity is a Bug.
std::string to_text(const Json& value, int indent = -1);

// Untrusted text in a message: quoted, escaped, at most 100 bytes.
std::string shown(std::string_view text);

// The whole number at `key` of an object, from `min` to `max`. Any other value is a DataError, "KEY
// is not a whole number from 1 to 9", to which the caller adds the file.
int64_t whole_number(const Json& object, const char* key, int64_t min, int64_t max);

namespace json_value_detail {

template <class T>
struct Kind {
  static constexpr const char* one = std::integral<T>         ? "a whole number"
                                     : std::floating_point<T> ? "a number"
                                                              : "a string";
  static bool holds(const Json& json) {
    if constexpr (std::integral<T>)
      return json.is_number_unsigned()
                 ? std::in_range<T>(json.get<uint64_t>())
                 : json.is_number_integer() && std::in_range<T>(json.get<int64_t>());
    else
      return std::floating_point<T> ? json.is_number() : json.is_string();
  }
};
template <>
struct Kind<bool> {
  static constexpr const char* one = "true or false";
  static bool holds(const Json& json) { return json.is_boolean(); }
};
template <>
struct Kind<Json> {
  static constexpr const char* one = "a value";
  static bool holds(const Json&) { return true; }
};
template <>
struct Kind<Json::object_t> {
  static constexpr const char* one = "an object";
  static bool holds(const Json& json) { return json.is_object(); }
};
template <class T>
struct Kind<std::vector<T>> {
  static constexpr const char* one = "a list";
  static bool holds(const Json& json) {
    if (!json.is_array()) return false;
    for (const Json& element : json)
      if (!Kind<T>::holds(element)) return false;
    return true;
  }
};

[[noreturn]] void refuse(const Json& object, const char* key, const std::string& where,
                         const char* wanted);

}  // namespace json_value_detail

// The value at `key` of an object in the file `where`: a bool, number, string, vector of these,
// list (Json::array_t) or object (Json::object_t). If it is missing or has another type, DataError:
// "FILE: KEY is "x", not a whole number", "FILE: KEY is missing; it must be a string".
template <class T>
T json_value(const Json& object, const char* key, const std::string& where) {
  using Kind = json_value_detail::Kind<T>;
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end() || !Kind::holds(*found))
    json_value_detail::refuse(object, key, where, Kind::one);
  if constexpr (std::same_as<T, Json::object_t>)  // get() cannot return it
    return found->template get_ref<const T&>();
  else
    return found->template get<T>();
}

// The same, with a default for a missing key.
template <class T>
T json_value(const Json& object, const char* key, const std::string& where, T otherwise) {
  if (object.is_object() && !object.contains(key)) return otherwise;
  return json_value<T>(object, key, where);
}

}  // namespace tx
