// Enumerations whose values have names in options and files. To define the names:
//
//   enum class Tie { all, target, none };
//   template <>
//   struct Names<Tie> {
//     static constexpr NameOf<Tie> list[] = {
//         {"all", Tie::all}, {"target", Tie::target}, {"none", Tie::none}};
//   };
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"

namespace tx {

template <class E>
struct NameOf {
  const char* name;
  E value;
};
template <class E>
struct Names;

template <class E>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const NameOf<E>& n : Names<E>::list) names.emplace_back(n.name);
  return names;
}

template <class E>
const char* name_of_value(E value) {
  for (const NameOf<E>& n : Names<E>::list)
    if (n.value == value) return n.name;
  throw Bug("a value of an enumeration has a name", __FILE__, __LINE__);
}

// Null if no value has this name.
template <class E>
const E* find_value(std::string_view name) {
  for (const NameOf<E>& n : Names<E>::list)
    if (n.name == name) return &n.value;
  return nullptr;
}

template <class E>
E value_of_name(std::string_view name) {
  if (const E* value = find_value<E>(name)) return *value;
  throw Bug("a name is one of the enumeration's", __FILE__, __LINE__);
}

// A value that is set by name: `name` is an option's field, names_of() its choices.
template <class E>
struct Named {
  std::string name;

  Named(E value) : name(name_of_value(value)) {}
  bool valid() const { return find_value<E>(name) != nullptr; }
  operator E() const { return value_of_name<E>(name); }
};

}  // namespace tx
