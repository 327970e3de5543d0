// The JSON header of a safetensors file as text; inside lib/checkpoint only.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/checkpoint/safetensors.h"

namespace tx {

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;  // in the header's order; begin <= end, and that is the size
  std::map<std::string, std::string> metadata;
};

// What a header that cannot be used says about itself; the caller knows the file.
struct HeaderError {
  std::string what;
};

// Throws HeaderError. Memory is bounded by a small multiple of the text, time by text x log(text).
SafetensorsHeader parse_safetensors_header(std::string_view text);

}  // namespace tx
