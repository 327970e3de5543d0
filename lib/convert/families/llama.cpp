// Llama of Hugging Face, and Mistral, which adds a window: decoders with rotary positions, norms of
// the root mean square before the sub-layers, a gate in the feed-forward layer and heads that share
// keys (Touvron et al. 2023; Jiang et al. 2023).
#include "lib/base/error.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/layers.h"
#include "lib/convert/families/sentencepiece_folder.h"
#include "lib/convert/formats/folder.h"

namespace tx {

namespace {

class Llama {
 public:
  Llama(const std::string& folder, const Json& json)
      : folder_(folder),
        config_(json, folder + "/config.json"),
        mistral_(config_.text("model_type") == "mistral"),
        tied_(config_.flag("tie_word_embeddings", false)),
        tokens_(read_decoder_tokens(folder, config_, config_.size("vocab_size"))),
        from_(std::make_shared<ForeignTensors>(read_weights(folder))),
        map_(*from_) {}

  ForeignModel import() {
    ForeignModel model;
    model.what = mistral_ ? "a Mistral model" : "a Llama model";
    model.from = from_;
    model.content.config = ModelConfig::from_json(model_json(), folder_ + "/config.json");
    model.content.vocabularies = Vocabularies({tokens_.vocabulary});
    model.content.provenance =
        Json{{"converted", mistral_ ? "Mistral of Hugging Face" : "Llama of Hugging Face"}};
    for (const ParameterEntry& e : parameter_table(model.content.config))
      model.content.weights.push_back(float_tensor(e, rows_of(e), "F32"));
    map_.ignore("lm_head.weight");             // where it is the embedding
    map_.ignore("model.rotary_emb.inv_freq");  // computed anew
    for (int i = 0; i < model.content.config.target().layers; ++i)
      map_.ignore("model.layers." + std::to_string(i) + ".self_attn.rotary_emb.inv_freq");
    map_.check_all_used();
    return model;
  }

 private:
  Json model_json() const {
    config_.must_be("partial_rotary_factor", 1.0);
    const int64_t heads = config_.size("num_attention_heads", 65535);
    if (heads == 0) config_.refuse("num_attention_heads is 0");
    const int64_t width = config_.size_or("head_dim", config_.size("hidden_size") / heads);
    Json json{{"kind", "decoder"},
              {"target_vocabulary", config_.size("vocab_size")},
              {"decoder_layers", config_.size("num_hidden_layers", max_layers)},
              {"d_model", config_.size("hidden_size")},
              {"d_ff", config_.size("intermediate_size")},
              {"heads", heads},
              {"d_k", width},
              {"d_v", width},
              {"kv_heads", config_.size_or("num_key_value_heads", mistral_ ? 8 : heads)},
              {"activation", gate()},
              {"norm", "pre"},
              {"norm_type", "rms"},
              {"positions", "rotary"},
              {"tie", tied_ ? "target" : "none"},
              {"scaled_embeddings", false},
              {"attention_bias", config_.flag("attention_bias", false)},
              {"feed_forward_bias", config_.flag("mlp_bias", false)},
              {"norm_epsilon", config_.real("rms_norm_eps", 1e-6)}};
    add_positions(json);
    const bool named = config_.json().contains("sliding_window");
    const int64_t window = config_.size_or("sliding_window", mistral_ && !named ? 4096 : 0);
    if (mistral_ && window > 0) json["window"] = window;
    return json;
  }

  std::string gate() const {
    const std::string name =
        config_.has("hidden_act") ? activation_of(config_, "hidden_act") : "silu";
    if (name == "silu") return "swiglu";
    if (name == "gelu") return "geglu";
    config_.refuse("hidden_act is \"" + config_.text("hidden_act").substr(0, 100) +
                   "\", which tx does not have as a gate");
  }

  // Older files have rope_theta and rope_scaling, newer ones rope_parameters of both.
  void add_positions(Json& json) const {
    const bool newer = config_.has("rope_parameters");
    const char* key = newer ? "rope_parameters" : "rope_scaling";
    const Json settings = config_.has(key) ? config_.json()[key] : Json::object();
    if (!settings.is_object()) config_.refuse(std::string(key) + " is not a JSON object");
    const FamilyConfig rope(settings, folder_ + "/config.json: " + key);
    json["rotary_base"] = newer && rope.has("rope_theta") ? rope.real("rope_theta", 0)
                                                          : config_.real("rope_theta", 10000);
    rope.must_be("partial_rotary_factor", 1.0);
    const std::string type = rope.has("rope_type") ? rope.text("rope_type")
                             : rope.has("type")    ? rope.text("type")
                                                   : "default";
    if (type == "default") return;
    if (type != "linear" && type != "llama3")
      rope.refuse("positions are scaled by \"" + type.substr(0, 100) +
                  "\", which tx does not have; known are linear and llama3");
    json["rotary_scaling"] = type;
    json["rotary_factor"] = needed(rope, "factor");
    if (type != "llama3") return;
    json["rotary_low"] = needed(rope, "low_freq_factor");
    json["rotary_high"] = needed(rope, "high_freq_factor");
    json["rotary_length"] = rope.size("original_max_position_embeddings");
  }

  static double needed(const FamilyConfig& rope, const char* key) {
    if (!rope.has(key)) rope.refuse(std::string("it lacks ") + key);
    return rope.real(key, 0);
  }

  WeightRows rows_of(const ParameterEntry& e) {
    if (e.name == "decoder.embedding.weight") {
      const std::string own = "model.embed_tokens.weight";
      const std::string found = tied_ ? map_.any_of({own, "lm_head.weight"}) : own;
      return rows_of_tokens(found.empty() ? own : found, e.cols);
    }
    if (e.name == "output.weight") {
      if (map_.any_of({"lm_head.weight"}).empty())
        throw DataError(folder_ +
                        " lacks lm_head.weight, but config.json says that it is not the "
                        "embedding (tie_word_embeddings false)");
      return rows_of_tokens("lm_head.weight", e.cols);
    }
    return map_.take(llama_name(e.name), file_shape(e));
  }

  WeightRows rows_of_tokens(const std::string& name, int64_t d) {
    return tokens_.order.rows(map_.take(name, {tokens_.order.size(), d}));
  }

  const std::string& folder_;
  FamilyConfig config_;
  bool mistral_, tied_;
  DecoderTokens tokens_;
  std::shared_ptr<const ForeignTensors> from_;
  WeightMap map_;
};

}  // namespace

ForeignModel import_llama(const std::string& folder, const Json& config) {
  return Llama(folder, config).import();
}

}  // namespace tx
