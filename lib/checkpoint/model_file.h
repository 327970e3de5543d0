// The model file, tx-model(5): weights, vocabulary, configuration and provenance in one
// .safetensors file that translates text.
#pragma once
#include <memory>
#include <string>

#include "lib/checkpoint/safetensors.h"
#include "lib/model/parameters.h"
#include "lib/text/vocabulary.h"

namespace tx {

inline constexpr int model_format_version = 1;

// Writes the weights (fp32) and the vocabularies (the same object: stored once); returns the XXH3 of
// the data, which a state file names.
std::string save_model(const std::string& path, const Parameters& parameters,
                       const std::shared_ptr<const Vocabulary>& source,
                       const std::shared_ptr<const Vocabulary>& target, const Json& provenance);

class ModelReader {
 public:
  // Reads everything but the weights. DataError: no tx model, damaged (the checksum is verified),
  // newer, of another kind.
  explicit ModelReader(const std::string& path);
  const std::string& path() const { return file_.path(); }
  const ModelConfig& config() const { return config_; }
  const Json& provenance() const { return provenance_; }
  const std::string& checksum() const { return checksum_; }
  const std::shared_ptr<const Vocabulary>& source() const { return source_; }
  const std::shared_ptr<const Vocabulary>& target() const { return target_; }
  const SafetensorsReader& file() const { return file_; }
  // Fills the master weights and the bf16 copy; every tensor must have its shape.
  void load(Parameters& parameters) const;

 private:
  std::shared_ptr<const Vocabulary> read_vocabulary(const std::string& name) const;
  SafetensorsReader file_;
  ModelConfig config_;
  Json provenance_;
  std::string checksum_;
  std::shared_ptr<const Vocabulary> source_, target_;
};

// The file that -m names: itself, or of a run directory its best, else its last model.
std::string resolve_model(const std::string& path);

// What save_model() and averaging write: `weights` are the tensors of the configuration's table.
struct ModelContent {
  ModelConfig config;
  std::shared_ptr<const Vocabulary> source, target;
  Json provenance;
  std::vector<TensorSource> weights;
};
std::string write_model(const std::string& path, ModelContent content);

}  // namespace tx
