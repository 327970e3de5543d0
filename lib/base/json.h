// The one door to nlohmann/json. Objects keep the order in which their keys were added.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tx {

using Json = nlohmann::ordered_json;

// Parses one JSON text, nested 100 levels at most; throws DataError that begins with `where` and
// names the byte.
Json parse_json(std::string_view text, const std::string& where);

// Compact text on one line; invalid UTF-8 is replaced by U+FFFD. NaN and infinities are a Bug:
// write null or a string instead.
std::string to_text(const Json& value, int indent = -1);

}  // namespace tx
