// A table from text to a number, looked up by views.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tx {

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

using TextIds = std::unordered_map<std::string, int, TextHash, std::equal_to<>>;

}  // namespace tx
