// The model file, tx-model(5): weights, vocabularies, configuration and provenance.
#pragma once
#include <initializer_list>
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

// Writes the weights as fp32, or rounded to bf16, and the vocabularies (a shared one once),
// atomically. Returns the XXH3 of the data, which the state file records. `provenance` is a JSON
// object without NaN or infinity, tx-model(5). The bytes depend only on the arguments.
std::string save_model(const std::string& path, const Parameters& parameters,
                       const Vocabularies& vocabularies, const Json& provenance,
                       DType precision = DType::f32);

// Of a matrix of int8 weights: Int8Weights::input_factor and the inverse of its scales; 0: none.
struct InputFactor {
  float input = 0, weight = 0;
};

class ModelReader final : public WeightSource {
 public:
  // Maps the model that `path` names (resolve_model()) and checks all of it: the checksum, and that
  // the tensors match the configuration. DataError names the file and the remedy: empty, truncated,
  // damaged, not a tx model, or of a newer format.
  explicit ModelReader(const std::string& path);
  const std::string& path() const { return file_.path(); }
  const ModelConfig& config() const { return config_; }
  const Json& provenance() const { return provenance_; }
  const std::string& checksum() const { return checksum_; }  // XXH3 of the data
  // One object if all sides share it.
  const Vocabularies& vocabularies() const { return vocabularies_; }
  const SafetensorsReader& file() const { return file_; }
  const std::vector<ParameterEntry>& table() const { return table_; }  // of config()
  // Fills the fp32 weights and the bf16 weights; the parameters must have this configuration, but
  // may have more tokens, whose rows it does not fill. DataError if the file has int8 weights, from
  // which the fp32 weights cannot be recovered.
  void load(Parameters& parameters) const;
  bool has_int8() const { return int8_; }
  InputFactor input_factor(const ParameterEntry& entry) const;
  // For inference; the reader must outlive parameters with int8 weights.
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
  mutable std::list<std::vector<float>> scales_;  // returned by int8()
};

// The model file that -m names: the file itself, or the best model of a run directory, else its
// last. DataError if a directory has neither; the message lists its files. A name without a slash
// that is no file is that of an installed model, data_directory() + "/NAME.safetensors".
std::string resolve_model(const std::string& path);

// Whether -m names a model (a directory, a regular file that begins like a safetensors file, or the
// name of an installed model) and not a vocabulary. Does not check the rest of the file.
bool names_model(const std::string& path);
// UsageError if `path` (--out) exists and is not a model. Pipes, devices and "-" pass.
void check_replaceable(const std::string& path);

// The vocabulary that -m names: a vocabulary file, or that of a model's target or source side.
std::unique_ptr<Vocabulary> open_vocabulary(const std::string& path, bool target);

// The content of a model file; `weights` are the tensors of the configuration's parameter table.
struct ModelContent {
  ModelConfig config;
  Vocabularies vocabularies;
  Json provenance;
  std::vector<TensorSource> weights;
};
std::string write_model(const std::string& path, ModelContent content);

// The provenance in the file's metadata; an empty object if there is none.
Json provenance_of(const SafetensorsReader& file);

// Defaults of tx-decode's options that a converted model brings, {"beam": 5, ...}: the member
// "defaults" of its provenance, which tx-avg keeps in "common".
Json defaults_of(const Json& provenance);
Json defaults_of_model(const std::string& path);  // without reading the rest of the file

// A table of the weights for people: name, shape, dtype (fp32, bf16, int8 with its scales), use and
// bytes of each, then sums per dtype, the languages of a multilingual model, and its defaults.
std::string describe_file(const ModelReader& model);

// The kind in the header of a model (resolve_model()), without reading the rest of the file.
ModelKind kind_of_model(const std::string& path);
// Conditions for Option::needs(): "a model of kind decoder", ...
std::vector<Condition> of_kinds(std::initializer_list<ModelKind> kinds);
// UsageError if an option on the command line needs a model of another kind than `path`.
void check_kind(const Options& options, ModelKind kind, const std::string& path);

}  // namespace tx
