// Enumerations whose values have names in options and files. To define the names, in the order of
// the values, with nullptr for a value without a name:
//
//   enum class Tie { all, target, none };
//   template <>
//   inline constexpr const char* name_table<Tie>[] = {"all", "target", "none"};
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"

namespace tx {

template <class E>
extern const char* const name_table[];

template <class E>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const char* name : name_table<E>)
    if (name) names.emplace_back(name);
  return names;
}

template <class E>
const char* name_of_value(E value) {
  const auto index = size_t(value);
  if (index < std::size(name_table<E>) && name_table<E>[index]) return name_table<E>[index];
  throw Bug("a value of an enumeration has a name", __FILE__, __LINE__);
}

template <class E>
std::optional<E> find_value(std::string_view name) {
  for (size_t i = 0; i < std::size(name_table<E>); ++i)
    if (name_table<E>[i] && name == name_table<E>[i]) return E(i);
  return {};
}

template <class E>
E value_of_name(std::string_view name) {
  if (const std::optional<E> value = find_value<E>(name)) return *value;
  throw Bug("a name is one of the enumeration's", __FILE__, __LINE__);
}

// A value that is set by name: `name` is an option's field, names_of() its choices.
template <class E>
struct Named {
  std::string name;

  Named(E value) : name(name_of_value(value)) {}
  bool valid() const { return find_value<E>(name).has_value(); }
  operator E() const { return value_of_name<E>(name); }
};

}  // namespace tx
