// Sizes and counts in JSON from outside.
#pragma once
#include <cstdint>

#include "lib/base/json.h"

namespace tx {

// The whole number at `key` of an object, from `least` to `most`. Anything else there, a fraction
// too, is a DataError: "KEY is not a whole number from 1 to 9"; the caller knows the file.
int64_t whole_number(const Json& object, const char* key, int64_t least, int64_t most);

}  // namespace tx
