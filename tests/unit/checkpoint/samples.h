// Small models and files for the tests of lib/checkpoint.
#pragma once
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "tests/support.h"

namespace tx_test {

inline std::shared_ptr<const tx::Vocabulary> word_list(const std::string& words) {
  return tx::parse_vocabulary("tx-words 1\n<pad>\n<unk>\n<s>\n</s>\n" + words, "words");
}

inline tx::ModelConfig small_config() {
  tx::ModelConfig config;
  config.set_vocabularies(7);  // padded to 64 in the blocks
  config.set_layers(1);
  config.d_model = 6;
  config.d_ff = 10;
  config.heads = 2;
  config.resolve();
  return config;
}

struct SampleModel {
  explicit SampleModel(uint32_t seed = 1, tx::DType dtype = tx::DType::f32,
                       const tx::ModelConfig& config = small_config())
      : backend(tx::make_backend(tx::Device::cpu, 1)),
        parameters(tx::Parameters::for_training(backend, config, dtype)) {
    parameters.initialise(seed);
  }
  std::string save(const std::string& path, const tx::Json& provenance = {{"step", 10}}) const {
    return save_model(path, parameters, {words, parameters.config().sides.size()}, provenance);
  }
  tx::Backend backend;
  tx::Parameters parameters;
  std::shared_ptr<const tx::Vocabulary> words = word_list("a\nb\nc\n");
};

inline std::string block_bytes(const tx::Matrix& block) {
  return {static_cast<const char*>(block.data), size_t(block.cols) * tx::size_of(block.dtype)};
}

// A safetensors file from the text of its header and its data.
inline std::string safetensors_bytes(const std::string& header, const std::string& data) {
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i) length[size_t(i)] = char(uint64_t(header.size()) >> (8 * i));
  return length + header + data;
}

// The header of a file that a test takes apart.
inline std::string header_of(const std::string& bytes) {
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  return bytes.substr(8, length);
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("no " + from + " in " + text);
  return text.replace(at, from.size(), to);
}

// The file with one change in its header.
inline std::string with_header(const std::string& bytes, const std::string& from,
                               const std::string& to) {
  const std::string header = header_of(bytes);
  return safetensors_bytes(replaced(header, from, to), bytes.substr(8 + header.size()));
}

}  // namespace tx_test
