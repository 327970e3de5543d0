// The weights of a folder of Hugging Face: model.safetensors, or shards that
// model.safetensors.index.json lists, or the same of pytorch_model.bin.
#pragma once
#include "lib/base/json.h"
#include "lib/convert/formats/tensors.h"

namespace tx {

// Of several forms, safetensors. DataError: none is there, a shard is missing, or does not hold
// what the index says.
ForeignTensors read_weights(const std::string& folder);

// A JSON object in a file of the folder. DataError: missing, too large, or something else.
Json read_object(const std::string& path);
// The same, or an empty object where the folder has no such file.
Json object_or_empty(const std::string& path);

// The bytes of a SentencePiece model. DataError: missing, or larger than 256 MiB.
std::string read_sentencepiece(const std::string& path);

}  // namespace tx
