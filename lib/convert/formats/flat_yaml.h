// The YAML that Marian writes: one `key: value` a line, where a value is a word, a number, text in
// quotes, or a list of those. Everything else of YAML is refused, with its line.
#pragma once
#include <string>
#include <string_view>

#include "lib/base/json.h"

namespace tx {

// An object in the order of the lines. A value without quotes is a boolean (true, false), null
// (nothing, ~ or null), a number, or text; a list stands on its key's line or the next one in
// brackets, or below its key with "- " before each value. Comments are skipped. DataError
// "WHERE:LINE:
// ...": nested objects, blocks of text, anchors, a key that stands there twice, invalid UTF-8.
Json parse_flat_yaml(std::string_view text, const std::string& where);

}  // namespace tx
