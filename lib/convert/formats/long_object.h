// {"piece": 17, ...}: a JSON object of very many members. A key is looked for in log n here, where
// parse_json() compares it with all before it.
#pragma once
#include "lib/base/json.h"

namespace tx {

// Members come in the order of their keys; a value that is itself an object or a list is null.
// Throws as parse_json() does, and DataError where `text` is not an object.
Json parse_long_object(std::string_view text, const std::string& where);
Json read_long_object(const std::string& path);

}  // namespace tx
