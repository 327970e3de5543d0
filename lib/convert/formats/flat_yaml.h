// The subset of YAML that Marian writes: one `key: value` per line, where a value is a word, a
// number, a quoted string, or a list of those. Other syntax is an error that names the line.
#pragma once
#include <string>
#include <string_view>

#include "lib/base/json.h"

namespace tx {

// An object in the order of the lines. An unquoted value is a boolean (true, false), null (nothing,
// ~ or null), a number, or a string. A list is in brackets on the key's line or the next, or has
// one "- value" per line. DataError "WHERE:LINE: ...": nested objects, block scalars, anchors,
// duplicate keys, invalid UTF-8.
Json parse_flat_yaml(std::string_view text, const std::string& where);

}  // namespace tx
