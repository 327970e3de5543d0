// Importers, one file for each family of models. An importer maps the configuration, the names of
// the weights and the vocabulary to those of a tx model file.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/json.h"
#include "lib/checkpoint/model_file.h"
#include "lib/convert/families/settings.h"
#include "lib/convert/formats/tensors.h"
#include "lib/subword/lexical_table.h"

namespace tx {

struct ForeignModel {
  ModelContent content;
  std::string what;  // "a MarianMT model", for the user
  std::vector<std::string> warnings;
  std::shared_ptr<const ForeignTensors> from;  // the tensors that the weights are read from
  std::optional<LexicalTable> shortlist;       // in the order of the model's tokens
};

// Adds the weights that rows_of() reads: 8-bit ones if all that tx quantises have scales, else
// fp32.
void add_weights(ForeignModel& model,
                 const std::function<WeightRows(const ParameterEntry&)>& rows_of);

// Appended to a SentencePiece model: a second normalizer_spec (3) with add_dummy_prefix (3) off.
inline constexpr std::string_view without_prefix{"\x1A\x02\x18\x00", 4};

// Limit on a configuration's layers per stack, checked before the parameter table is built.
inline constexpr int64_t max_layers = 1000;

// Reads a directory of Hugging Face, fairseq, Marian or CTranslate2, a package of Argos Translate
// or a GGUF file. DataError: none of these.
ForeignModel import_model(const std::string& path);

ForeignModel import_t5(const std::string& directory, const ModelSettings& settings);
ForeignModel import_bart(const std::string& directory, const ModelSettings& settings);
ForeignModel import_marian(const std::string& directory, const ModelSettings& settings);
ForeignModel import_fairseq(const std::string& directory);     // a checkpoint and its dictionaries
ForeignModel import_marian_npz(const std::string& directory);  // of Marian and Firefox, see there
ForeignModel import_ctranslate2(const std::string& path);      // a directory or an .argosmodel
ForeignModel import_bert(const std::string& directory, const ModelSettings& settings);
ForeignModel import_fsmt(const std::string& directory, const ModelSettings& settings);
ForeignModel import_gguf(const std::string& path);
bool is_gguf(const std::string& path);  // by its name, or its first bytes, as in Ollama's folders
ForeignModel import_gpt2(const std::string& directory, const ModelSettings& settings);
ForeignModel import_llama(const std::string& directory, const ModelSettings& settings);

// The first of checkpoint_best.pt, checkpoint_last.pt, checkpoint.pt and model.pt, or "".
std::string fairseq_checkpoint(const std::string& directory);

// A configuration whose values are checked on access. DataError names the file and the key.
class FamilyConfig {
 public:
  FamilyConfig(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}
  int64_t size(const char* key, int64_t max = int64_t(1) << 24) const;  // 0 .. max; required
  int64_t size_or(const char* key, int64_t otherwise) const;            // `otherwise` also for null
  bool flag(const char* key, bool otherwise) const;
  double real(const char* key, double otherwise) const;
  std::string text(const char* key) const;
  bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
  const Json& json() const { return json_; }
  // The value of two keys that must agree, because tx has one setting for both stacks.
  int64_t same(const char* key, const char* other) const;
  // DataError if the key is present with another value.
  void must_be(const char* key, const Json& value) const;
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  const Json& json_;
  std::string where_;
};

// The tokens of an M2M-100, NLLB or mBART model. DataError: a file is missing, malformed or without
// languages, or has more tokens than rows.
ModelTokens read_multilingual(const std::string& directory, const FamilyConfig& config,
                              const ModelSettings& settings);

// What the configurations of BART's descendants (Marian, M2M-100) have in common, as tx's
// configuration: kind, vocabulary sizes, layers, widths, heads, activation, biases.
Json bart_config(const FamilyConfig& config, int64_t source, int64_t target);

// The activation's name in tx. DataError: not supported.
std::string activation_of(const FamilyConfig& config, const char* key);

// Hugging Face's name of a weight in BART's descendants, except embeddings:
// "model.encoder.layers.0.fc1.weight" for "encoder.layers.0.ffn.in_proj.weight".
std::string bart_name(const std::string& ours);

// The same in Llama, for all weights: "model.layers.0.mlp.up_proj.weight" for "...ffn.in_proj...".
std::string llama_name(const std::string& ours);

// The same in Marian's own files, except embeddings and output: "encoder_l1_self_Wq" for
// "encoder.layers.0.self_attn.q_proj.weight".
std::string marian_name(const std::string& ours, bool pre_norm);

// DataError if the first of these tensors that exists has fewer rows, before they are allocated.
void check_rows(const ForeignTensors& from, const std::vector<std::string>& names, int64_t rows);

// Whether both exist and have different bytes: embeddings that transformers 5 does not share.
bool differ(const ForeignTensors& from, const std::string& a, const std::string& b);

// Reads weights by name and records which of the foreign tensors were used.
class WeightMap {
 public:
  // `from` must outlive the rows that take() returns.
  explicit WeightMap(const ForeignTensors& from) : from_(from) {}
  // The tensor of this name and shape; marks it as used.
  WeightRows take(const std::string& theirs, const std::vector<int64_t>& shape);
  // The output matrix of a Hugging Face model. DataError: it has none.
  WeightRows take_output(const std::vector<int64_t>& shape);
  // The first of these names that exists; "" if none does.
  std::string any_of(const std::vector<std::string>& names) const;
  // Marks a redundant tensor as used.
  void ignore(const std::string& theirs) { used_.insert(theirs); }
  // DataError that names an unused tensor: the model has a component that is not supported.
  void check_all_used() const;

 private:
  const ForeignTensors& from_;
  std::set<std::string> used_;
};

}  // namespace tx
