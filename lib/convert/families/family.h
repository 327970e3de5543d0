// Families of models of other toolkits. Each has one file that knows its configuration, the names
// of its weights and its vocabulary, and turns them into what a model file of tx holds.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "lib/base/json.h"
#include "lib/checkpoint/model_file.h"
#include "lib/convert/formats/tensors.h"

namespace tx {

struct ForeignModel {
  ModelContent content;
  std::string what;                            // "a MarianMT model", for the user
  std::shared_ptr<const ForeignTensors> from;  // what the weights are read from
};

// Of a stack; a table of them is made before they are read.
inline constexpr int64_t max_layers = 1000;

// A folder of Hugging Face: its config.json says which family; or one with a checkpoint of fairseq
// or a model of Marian. DataError: none that is known.
ForeignModel import_folder(const std::string& folder);

ForeignModel import_marian(const std::string& folder, const Json& config);  // "marian"
ForeignModel import_fairseq(const std::string& folder);     // a checkpoint and its dictionaries
ForeignModel import_marian_npz(const std::string& folder);  // model.npz and its vocabularies
ForeignModel import_fsmt(const std::string& folder, const Json& config);    // "fsmt"
ForeignModel import_gpt2(const std::string& folder, const Json& config);    // "gpt2"
ForeignModel import_llama(const std::string& folder, const Json& config);   // "llama", "mistral"
ForeignModel import_m2m100(const std::string& folder, const Json& config);  // "m2m_100"

// What a family's configuration says, checked. DataError names the file and the key.
class FamilyConfig {
 public:
  FamilyConfig(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}
  int64_t size(const char* key, int64_t max = int64_t(1) << 24) const;  // 0 .. most; must be there
  int64_t size_or(const char* key, int64_t otherwise) const;            // also where it is null
  bool flag(const char* key, bool otherwise) const;
  double real(const char* key, double otherwise) const;
  std::string text(const char* key) const;
  bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
  const Json& json() const { return json_; }
  // Two keys that must say the same, since tx has one setting for both stacks.
  int64_t same(const char* key, const char* other) const;
  // A key that older or other models have, and whose meaning tx does not know with another value.
  void must_be(const char* key, const Json& value) const;
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  const Json& json_;
  std::string where_;
};

// What the configurations of models that descend from BART (Marian, M2M-100) say alike, as that of
// a model file: kind, vocabularies of these sizes, layers, widths, heads, activation, biases.
Json bart_config(const FamilyConfig& config, int64_t source, int64_t target);

// The activation's name in tx. DataError: one that tx does not have.
std::string activation_of(const FamilyConfig& config, const char* key);

}  // namespace tx
