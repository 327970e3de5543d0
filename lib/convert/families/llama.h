// The parts of a model of the Llama family, from a directory of Hugging Face or a GGUF file.
#pragma once
#include <memory>
#include <string>

#include "lib/base/json.h"
#include "lib/convert/families/family.h"

namespace tx {

struct LlamaFiles {
  std::string where;          // a directory, which may have further files, or a file
  std::string configuration;  // the file of `config`, for messages
  Json config;                // of a GGUF file, as in config.json
  std::string vocabulary;     // the file of the next two, for messages
  std::string sentencepiece;  // the bytes of tokenizer.model, or empty: then
  Json tokenizer;             // as in tokenizer.json
  std::shared_ptr<const ForeignTensors> weights;  // with the names of Hugging Face
  Json about = Json::object();  // what a GGUF file says of itself: its name and licence
  bool interleaved = false;     // neighbouring rows of queries and keys rotate together
};

// The content of a GGUF file. DataError: damaged, or what tx does not support.
LlamaFiles read_gguf(const std::string& path);

}  // namespace tx
