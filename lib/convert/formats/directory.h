// Files of a Hugging Face directory: weights in model.safetensors or pytorch_model.bin, or in
// shards that NAME.index.json lists; JSON, YAML, SentencePiece models.
#pragma once
#include "lib/base/json.h"
#include "lib/convert/formats/tensors.h"

namespace tx {

// Prefers safetensors. DataError: no weights, or a shard is missing or contradicts the index.
ForeignTensors read_weights(const std::string& directory);
// Adds those of one file, .safetensors or else of torch.save().
void add_weights_file(ForeignTensors& all, const std::string& path);

// The JSON object in a file. DataError: missing, larger than 256 MiB, or not an object.
Json read_object(const std::string& path, const char* without = nullptr);
// The same, but an empty object if the file does not exist. `without` is as for parse_json().
Json object_or_empty(const std::string& path, const char* without = nullptr);

// The bytes of a SentencePiece model. DataError: missing, or larger than 256 MiB.
std::string read_sentencepiece(const std::string& path);

// The subset of YAML that Marian writes: one `key: value` per line, in that order. An unquoted
// value is a boolean (true, false), null (nothing, ~ or null), a number, or a string; a list is in
// brackets on the key's line or the next, or has one "- value" per line. DataError "WHERE:LINE:
// ...": nested objects, block scalars, anchors, duplicate keys, invalid UTF-8.
Json parse_flat_yaml(std::string_view text, const std::string& where);

}  // namespace tx
