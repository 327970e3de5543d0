// Values in JSON from outside. What is wrong is a DataError; no exception of the JSON library
// leaves here.
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/json.h"

namespace tx {

// The whole number at `key` of an object, from `least` to `most`. Anything else there, a fraction
// too, is a DataError: "KEY is not a whole number from 1 to 9"; the caller knows the file.
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
// list (Json::array_t) or object (Json::object_t). Where it is missing or of another kind,
// DataError: "FILE: KEY is "x", not a whole number", "FILE: KEY is missing; it must be a string".
template <class T>
T json_value(const Json& object, const char* key, const std::string& where) {
  using Kind = json_value_detail::Kind<T>;
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end() || !Kind::holds(*found))
    json_value_detail::refuse(object, key, where, Kind::one);
  if constexpr (std::same_as<T, Json::object_t>)  // which get() cannot give
    return found->template get_ref<const T&>();
  else
    return found->template get<T>();
}

// The same of a key that may be missing.
template <class T>
T json_value(const Json& object, const char* key, const std::string& where, T otherwise) {
  if (object.is_object() && !object.contains(key)) return otherwise;
  return json_value<T>(object, key, where);
}

}  // namespace tx
