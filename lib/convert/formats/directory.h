// Files of a Hugging Face directory: weights in model.safetensors, in the shards that
// model.safetensors.index.json lists, or the same with pytorch_model.bin; JSON; SentencePiece
// models.
#pragma once
#include "lib/base/json.h"
#include "lib/convert/formats/tensors.h"

namespace tx {

// Prefers safetensors. DataError: no weights, or a shard is missing or contradicts the index.
ForeignTensors read_weights(const std::string& directory);

// The JSON object in a file. DataError: missing, larger than 256 MiB, or not an object.
Json read_object(const std::string& path, const char* without = nullptr);
// The same, but an empty object if the file does not exist. `without` is as for parse_json().
Json object_or_empty(const std::string& path, const char* without = nullptr);

// The bytes of a SentencePiece model. DataError: missing, or larger than 256 MiB.
std::string read_sentencepiece(const std::string& path);

}  // namespace tx
