// The model file, tx-model(5): weights, vocabulary, configuration and provenance in one
// .safetensors file that translates text.
#pragma once
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/base/json.h"
#include "lib/checkpoint/safetensors.h"
#include "lib/model/parameters.h"
#include "lib/subword/vocabulary.h"

namespace tx {

inline constexpr int model_format_version = 1;

// Writes the weights as fp32, or rounded to bf16, and the vocabularies (one for all sides: stored
// once), atomically; returns the XXH3 of the data, which a state file names. `provenance` is an
// object of finite values that a model file carries along, tx-model(5). The bytes of the file
// depend on the arguments alone.
std::string save_model(const std::string& path, const Parameters& parameters,
                       const Vocabularies& vocabularies, const Json& provenance,
                       DType precision = DType::f32);

class ModelReader final : public WeightSource {
 public:
  // Maps the model that `path` names (resolve_model()) and checks all of it: the checksum, and that
  // the tensors are those of its configuration. DataError names the file and what to do: empty,
  // truncated, damaged, not a model of tx, or of a newer format.
  explicit ModelReader(const std::string& path);
  const std::string& path() const { return file_.path(); }
  const ModelConfig& config() const { return config_; }
  const Json& provenance() const { return provenance_; }
  const std::string& checksum() const { return checksum_; }  // XXH3 of the data
  // One object where all sides share it.
  const Vocabularies& vocabularies() const { return vocabularies_; }
  const SafetensorsReader& file() const { return file_; }
  const std::vector<ParameterEntry>& table() const { return table_; }  // of config()
  // Fills the master weights and the bf16 copy; the parameters must have this configuration.
  // DataError where it holds 8-bit weights: they do not give back what they were made of.
  void load(Parameters& parameters) const;
  bool has_int8() const { return int8_; }
  // For inference; the reader must outlive parameters of 8-bit weights.
  WeightRows rows(const ParameterEntry& entry) const override;
  Int8Weights int8(std::span<const ParameterEntry> joined) const override;
  void finished(const ParameterEntry& entry) const override;

 private:
  void check_format() const;
  void check_sizes() const;
  void check_tensors();
  void check_int8(const ParameterEntry& entry, const TensorInfo& tensor) const;
  const std::string& text(const std::string& key) const;
  Vocabularies read_vocabularies() const;
  Vocabularies::Pointer read_vocabulary(const std::string& name, int64_t size) const;
  SafetensorsReader file_;
  std::string checksum_;
  ModelConfig config_;
  std::vector<ParameterEntry> table_;
  Json provenance_;
  Vocabularies vocabularies_;
  bool int8_ = false;
  mutable std::list<std::vector<float>> scales_;  // of 8-bit weights that were asked for
};

// The file that -m names: the file itself, or the best model of a run directory, else its last.
// DataError where a directory has neither, with what it holds instead.
std::string resolve_model(const std::string& path);

// Whether -m names a model (a run directory, or a regular file that begins as safetensors files do)
// and not a vocabulary. Says nothing about the rest of the file.
bool names_model(const std::string& path);
// UsageError where a model may not be written under this name (--out), since something that is no
// model would be lost. Pipes and devices hold nothing that could be; "-" is standard output.
void check_replaceable(const std::string& path);

// The vocabulary that -m names: a vocabulary file, or the one inside a model, of the side that is
// predicted or of the one that is read first.
std::unique_ptr<Vocabulary> open_vocabulary(const std::string& path, bool target);

// What save_model() and averaging write: `weights` are the tensors of the configuration's table.
struct ModelContent {
  ModelConfig config;
  Vocabularies vocabularies;
  Json provenance;
  std::vector<TensorSource> weights;
};
std::string write_model(const std::string& path, ModelContent content);

// The provenance of a file whose header has been read; an empty object where it has none.
Json provenance_of(const SafetensorsReader& file);

}  // namespace tx
