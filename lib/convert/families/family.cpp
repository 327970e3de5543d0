#include "lib/convert/families/family.h"

#include <sstream>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/utf8.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/marian_npz_files.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/formats/directory.h"

namespace tx {

namespace {

// Replaces one part of `name`: the first of `parts` that occurs in it.
template <size_t N>
std::string replaced(std::string name, const std::pair<const char*, const char*> (&parts)[N]) {
  for (const auto& [from, to] : parts) {
    const size_t at = name.find(from);
    if (at == name.npos) continue;
    return name.replace(at, std::string(from).size(), to);
  }
  return name;
}

// The licence that the model's README.md states between lines of "---"; "": none.
std::string stated_licence(const std::string& directory) {
  const std::string path = directory + "/README.md", key = "license:";
  if (!file_exists(path)) return "";
  std::istringstream text(read_regular_file(path, int64_t(1) << 24));
  std::string line;
  if (!std::getline(text, line) || !line.starts_with("---")) return "";
  while (std::getline(text, line) && !line.starts_with("---"))
    if (line.starts_with(key))
      return std::string(trimmed(std::string_view(line).substr(key.size())));
  return "";
}

}  // namespace

void FamilyConfig::refuse(const std::string& why) const { throw DataError(where_ + ": " + why); }

int64_t FamilyConfig::size(const char* key, int64_t max) const {
  try {
    return whole_number(json_, key, 0, max);
  } catch (const DataError& e) {
    refuse(e.what());
  }
}

int64_t FamilyConfig::size_or(const char* key, int64_t otherwise) const {
  return has(key) ? size(key) : otherwise;
}

bool FamilyConfig::flag(const char* key, bool otherwise) const {
  if (!has(key)) return otherwise;
  if (!json_[key].is_boolean()) refuse(std::string(key) + " must be true or false");
  return json_[key].get<bool>();
}

double FamilyConfig::real(const char* key, double otherwise) const {
  if (!has(key)) return otherwise;
  if (!json_[key].is_number()) refuse(std::string(key) + " must be a number");
  return json_[key].get<double>();
}

std::string FamilyConfig::text(const char* key) const {
  if (!has(key) || !json_[key].is_string())
    refuse(std::string(key) + " is missing or not a string");
  return json_[key].get<std::string>();
}

int64_t FamilyConfig::same(const char* key, const char* other) const {
  const int64_t value = size(key);
  if (size(other) != value)
    refuse(std::string(key) + " and " + other + " differ, but tx has one setting for both");
  return value;
}

void FamilyConfig::must_be(const char* key, const Json& value) const {
  if (has(key) && json_[key] != value)
    refuse(std::string(key) + " is " + to_text(json_[key]).substr(0, 100) + "; only " +
           to_text(value) + " is supported");
}

Json bart_config(const FamilyConfig& config, int64_t source, int64_t target) {
  return Json{{"kind", "encoder-decoder"},
              {"source_vocabulary", source},
              {"target_vocabulary", target},
              {"encoder_layers", config.size("encoder_layers", max_layers)},
              {"decoder_layers", config.size("decoder_layers", max_layers)},
              {"d_model", config.size("d_model")},
              {"d_ff", config.same("encoder_ffn_dim", "decoder_ffn_dim")},
              {"heads", config.same("encoder_attention_heads", "decoder_attention_heads")},
              {"activation", activation_of(config, "activation_function")},
              {"attention_bias", true},
              {"output_bias", true},
              {"norm_epsilon", 1e-5}};
}

std::string activation_of(const FamilyConfig& config, const char* key) {
  static const std::map<std::string, std::string> names = {
      {"relu", "relu"},           {"gelu", "gelu"},
      {"swish", "silu"},          {"silu", "silu"},
      {"gelu_new", "gelu-tanh"},  {"gelu_pytorch_tanh", "gelu-tanh"},
      {"gelu_fast", "gelu-tanh"}, {"quick_gelu", "gelu-sigmoid"}};
  const auto at = names.find(config.text(key));
  if (at == names.end())
    config.refuse(std::string(key) + " is " + shown(config.text(key)) + ", which is not supported");
  return at->second;
}

ForeignModel import_model(const std::string& directory) {
  const std::string path = directory + "/config.json";
  if (is_gguf(directory)) return import_gguf(directory);
  const bool marian = is_directory(directory) && !file_exists(path) && holds_marian(directory);
  if (!is_directory(directory) || (file_exists(directory + "/model.bin") && !marian))
    return import_ctranslate2(directory);
  if (!file_exists(path) && !fairseq_checkpoint(directory).empty())
    return import_fairseq(directory);
  if (marian) return import_marian_npz(directory);
  if (!file_exists(path))
    throw DataError(directory +
                    " is not a recognised model: it has no config.json, no model.npz, no " +
                    "model*.bin, no fairseq checkpoint and no model of tx-train");
  const Json json = read_object(path);
  const std::string type = FamilyConfig(json, path).text("model_type");
  struct Family {
    ForeignModel (*import)(const std::string&, const ModelSettings&);
    int64_t start;  // as for ModelSettings
    ModelSettings::Text text;
  };
  using Text = ModelSettings::Text;
  static const std::map<std::string, Family> families = {
      {"bart", {import_bart, -1, Text::tokens}},      {"bert", {import_bert, 0, Text::tokens}},
      {"fsmt", {import_fsmt, 1, Text::tokens}},       {"gpt2", {import_gpt2, 0, Text::tokens}},
      {"llama", {import_llama, 0, Text::raw}},        {"m2m_100", {import_bart, 2, Text::raw}},
      {"marian", {import_marian, 1, Text::raw}},      {"mbart", {import_bart, -1, Text::raw}},
      {"mistral", {import_llama, 0, Text::raw}},      {"qwen2", {import_llama, 0, Text::raw}},
      {"mt5", {import_t5, 1, Text::tokens}},          {"t5", {import_t5, 1, Text::tokens}},
      {"qwen3", {import_llama, 0, Text::raw}},        {"roberta", {import_bert, 0, Text::tokens}},
      {"xlm-roberta", {import_bert, 0, Text::tokens}}};
  const auto family = families.find(type);
  std::string names;
  for (const auto& [name, own] : families) names += (names.empty() ? "" : ", ") + name;
  if (family == families.end())
    throw DataError(path + ": model_type " + shown(type) + " is not supported; " + names + " are");
  const ModelSettings settings(directory, json, family->second.start, family->second.text);
  ForeignModel model = family->second.import(directory, settings);
  model.warnings.insert(model.warnings.begin(), settings.warnings().begin(),
                        settings.warnings().end());
  if (const std::string licence = stated_licence(directory); !licence.empty())
    model.content.provenance["package"] = Json{{"license", licence}};
  if (!settings.defaults().empty()) model.content.provenance["defaults"] = settings.defaults();
  return model;
}

std::string bart_name(const std::string& ours) {
  static const std::pair<const char*, const char*> parts[] = {
      {".self_attn_norm.", ".self_attn_layer_norm."},
      {".cross_attn_norm.", ".encoder_attn_layer_norm."},
      {".ffn_norm.", ".final_layer_norm."},
      {".cross_attn.", ".encoder_attn."},
      {".ffn.in_proj.", ".fc1."},
      {".ffn.out_proj.", ".fc2."},
      {"coder.norm.", "coder.layer_norm."},
      {"coder.embedding_norm.", "coder.layernorm_embedding."},
      {"coder.positions.", "coder.embed_positions."}};
  return "model." + replaced(ours, parts);
}

std::string llama_name(const std::string& ours) {
  static const std::pair<const char*, const char*> parts[] = {
      {".self_attn.out_proj.", ".self_attn.o_proj."},
      {".self_attn_norm.", ".input_layernorm."},
      {".ffn_norm.", ".post_attention_layernorm."},
      {".ffn.gate_proj.", ".mlp.gate_proj."},
      {".ffn.in_proj.", ".mlp.up_proj."},
      {".ffn.out_proj.", ".mlp.down_proj."},
      {".embedding.", ".embed_tokens."}};
  if (ours == "output.weight") return "lm_head.weight";
  if (ours == "embedding.weight") return "model.embed_tokens.weight";
  return "model" + replaced(ours, parts).substr(ours.find('.'));
}

void add_weights(ForeignModel& model,
                 const std::function<WeightRows(const ParameterEntry&)>& rows_of) {
  const std::vector<ParameterEntry> table = parameter_table(model.content.config);
  std::vector<WeightRows> all;
  bool int8 = true;
  for (const ParameterEntry& e : table) {
    all.push_back(rows_of(e));
    int8 = int8 && (!is_quantised(e) || all.back().scale);
  }
  for (size_t i = 0; i < table.size(); ++i) {
    const ParameterEntry& e = table[i];
    if (int8 && is_quantised(e))
      for (TensorSource& tensor : int8_tensors(e, with_zeros(all[i], e.padded_rows)))
        model.content.weights.push_back(std::move(tensor));
    else
      model.content.weights.push_back(float_tensor(e, all[i], "F32"));
  }
}

void check_rows(const ForeignTensors& from, const std::vector<std::string>& names, int64_t rows) {
  for (const std::string& name : names) {
    const ForeignTensor* tensor = from.find(name);
    if (tensor == nullptr) continue;
    if (tensor->shape.empty() || tensor->shape[0] < rows)
      throw DataError(from.where() + ": " + name + " has shape " + shape_text(tensor->shape) +
                      ", but vocab_size in config.json is " + std::to_string(rows));
    return;
  }
}

bool differ(const ForeignTensors& from, const std::string& a, const std::string& b) {
  const ForeignTensor *x = from.find(a), *y = from.find(b);
  return x && y && x->bytes != y->bytes;
}

WeightRows WeightMap::take(const std::string& theirs, const std::vector<int64_t>& shape) {
  used_.insert(theirs);
  return from_.rows(theirs, shape);
}

WeightRows WeightMap::take_output(const std::vector<int64_t>& shape) {
  if (from_.find("lm_head.weight") == nullptr)
    throw DataError(from_.where() +
                    " has no lm_head.weight, but tie_word_embeddings in config.json is false");
  return take("lm_head.weight", shape);
}

std::string WeightMap::any_of(const std::vector<std::string>& names) const {
  for (const std::string& name : names)
    if (from_.find(name) != nullptr) return name;
  return "";
}

void WeightMap::check_all_used() const {
  for (const auto& [name, tensor] : from_.all())
    if (used_.count(name) == 0)
      throw DataError(from_.where() + " has the tensor " + shown(name) +
                      ", which belongs to a component that is not supported");
}

}  // namespace tx
