#include "lib/convert/families/family.h"

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/convert/families/fairseq_folder.h"
#include "lib/convert/families/marian_npz_folder.h"
#include "lib/convert/formats/folder.h"

namespace tx {

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
  if (!json_[key].is_boolean()) refuse(std::string(key) + " is neither true nor false");
  return json_[key].get<bool>();
}

double FamilyConfig::real(const char* key, double otherwise) const {
  if (!has(key)) return otherwise;
  if (!json_[key].is_number()) refuse(std::string(key) + " is no number");
  return json_[key].get<double>();
}

std::string FamilyConfig::text(const char* key) const {
  if (!has(key) || !json_[key].is_string()) refuse(std::string("it has no text \"") + key + "\"");
  return json_[key].get<std::string>();
}

int64_t FamilyConfig::same(const char* key, const char* other) const {
  const int64_t value = size(key);
  if (size(other) != value)
    refuse(std::string(key) + " and " + other + " differ; tx has one setting for both stacks");
  return value;
}

void FamilyConfig::must_be(const char* key, const Json& value) const {
  if (has(key) && json_[key] != value)
    refuse(std::string(key) + " is " + to_text(json_[key]).substr(0, 100) + "; only " +
           to_text(value) + " can be carried over");
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
    config.refuse(std::string(key) + " is \"" + config.text(key).substr(0, 100) +
                  "\", which tx does not have");
  return at->second;
}

ForeignModel import_folder(const std::string& folder) {
  const std::string path = folder + "/config.json";
  if (!file_exists(path) && !fairseq_checkpoint(folder).empty()) return import_fairseq(folder);
  if (!file_exists(path) && holds_marian_npz(folder)) return import_marian_npz(folder);
  if (!file_exists(path))
    throw DataError(folder +
                    " is no model that is known: it holds no config.json, no model.npz, no " +
                    "checkpoint of fairseq, and no model of a training of tx");
  const Json json = read_object(path);
  const std::string type = FamilyConfig(json, path).text("model_type");
  if (type == "marian") return import_marian(folder, json);
  if (type == "m2m_100") return import_m2m100(folder, json);
  if (type == "fsmt") return import_fsmt(folder, json);
  if (type == "gpt2") return import_gpt2(folder, json);
  if (type == "llama" || type == "mistral") return import_llama(folder, json);
  throw DataError(
      path + ": models of type \"" + type.substr(0, 100) +
      "\" cannot be converted; known are fsmt, gpt2, llama, m2m_100, marian and mistral");
}

}  // namespace tx
