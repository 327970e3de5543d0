// Hugging Face's Llama, and Mistral with sliding windows: pre-norm decoders with RMSNorm, rotary
// positions, gates and grouped queries (Touvron et al. 2023; Jiang et al. 2023).
#include <memory>
#include <set>
#include <string>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/family.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/formats/directory.h"
#include "lib/subword/subword.h"

namespace tx {

namespace {

// tokenizer.model has the tokens and their ids; further rows are added tokens or unused.

struct DecoderTokens {
  TokenOrder order;  // one token per row of the embedding; Start::own
  std::shared_ptr<const Vocabulary> vocabulary;
};

// tx needs a token for pad: else it takes the byte token <0x00>, which no text contains, or an
// unused row. DataError: no tokenizer.model, too many tokens, or texts without one bos and one eos.
class TokensReader {
 public:
  // `rows` of the embedding.
  TokensReader(const std::string& directory, const FamilyConfig& config, int64_t rows,
               const ModelSettings& settings)
      : directory_(directory), config_(config), rows_(rows), settings_(settings) {}

  DecoderTokens read() {
    check_tokeniser();
    content_.model = read_sentencepiece(path_);
    if (no_prefix_) content_.model += without_prefix;
    const PieceSplitter splitter(content_.model, path_);
    list(splitter.tokens());
    name_more_rows();
    const SpecialIds special = special_ids(splitter.unk());
    TokenOrder order(texts_, special, directory_ + "/config.json", Start::own);
    content_.tokens = order.tokens();
    content_.theirs = {special.pad, special.unk, special.start, special.eos};
    settings_.check_token("bos_token", texts_[size_t(special.start)]);
    settings_.set_tokens(content_, order);
    for (const int64_t theirs : controls_)
      if (order.id(theirs) >= Vocabulary::specials) content_.controls.push_back(order.id(theirs));
    return {std::move(order), parse_vocabulary(mapped_bytes(content_), path_)};
  }

 private:
  void check_tokeniser() {
    if (!file_exists(path_)) {
      if (file_exists(directory_ + "/tokenizer.json"))
        throw DataError(directory_ +
                        " has no tokenizer.model, only tokenizer.json: tx needs the SentencePiece "
                        "model, which comes with the original weights");
      throw DataError(directory_ + " has no tokenizer.model, its SentencePiece vocabulary");
    }
    const std::string settings = directory_ + "/tokenizer_config.json";
    const Json json = object_or_empty(settings);
    const FamilyConfig tokenizer(json, settings);
    tokenizer.must_be("add_bos_token", true);
    tokenizer.must_be("add_eos_token", false);
    no_prefix_ = !tokenizer.flag("add_prefix_space", true);
  }

  void list(const std::vector<ListedPiece>& tokens) {
    if (int64_t(tokens.size()) > rows_)
      throw DataError(path_ + " has " + std::to_string(tokens.size()) + " tokens, but " +
                      directory_ + "/config.json says " + std::to_string(rows_));
    for (const ListedPiece& token : tokens) {
      const auto id = int64_t(texts_.size());
      if (token.control) controls_.push_back(id);
      if (token.byte && token.text == "<0x00>") zero_ = id;
      content_.bytes |= token.byte;
      texts_.push_back(token.text);
    }
    in_model_ = int64_t(texts_.size());
  }

  // Names the rows that follow those of tokenizer.model, which are added tokens or unused.
  void name_more_rows() {
    std::map<int64_t, std::string> names;
    const Json added = object_or_empty(directory_ + "/added_tokens.json");
    for (const auto& [text, id] : added.items())
      if (id.is_number_unsigned()) names[id.get<int64_t>()] = text;
    const Json settings = object_or_empty(directory_ + "/tokenizer_config.json");
    const Json decoder = settings.value("added_tokens_decoder", Json::object());
    for (const auto& [id, token] : decoder.items())
      if (token.is_object() && token.contains("content") && token["content"].is_string() &&
          id.size() < 10 && id.find_first_not_of("0123456789") == id.npos && !id.empty())
        names[std::stoll(id)] = token["content"].get<std::string>();
    std::set<std::string> known(texts_.begin(), texts_.end());
    for (int64_t id = in_model_; id < rows_; ++id) {
      std::string text = names.count(id) > 0 ? names[id] : "";
      if (text.empty() || known.count(text) > 0) text = unnamed_row(id);
      while (!known.insert(text).second) text += '_';
      if (names.count(id) == 0 && spare_ < 0) spare_ = id;
      texts_.push_back(text);
      controls_.push_back(id);
    }
  }

  SpecialIds special_ids(int64_t unk) const {
    SpecialIds ids{-1, unk, config_.size("bos_token_id"), config_.size("eos_token_id")};
    const Json& pad = config_.json().value("pad_token_id", Json());
    const int64_t own = pad.is_number_unsigned() ? config_.size("pad_token_id") : -1;
    if (own >= 0 && own != unk && own != ids.start && own != ids.eos)
      ids.pad = own;
    else
      ids.pad = zero_ >= 0 ? zero_ : spare_;
    if (ids.pad < 0)
      throw DataError(path_ +
                      " has no token for padding: no pad_token_id in config.json, no token for the "
                      "byte 0 and no unused row in the embedding");
    return ids;
  }

  const std::string& directory_;
  const FamilyConfig& config_;
  int64_t rows_;
  const ModelSettings& settings_;
  bool no_prefix_ = false;
  std::string path_ = directory_ + "/tokenizer.model";
  MappedTokens content_;
  std::vector<std::string> texts_;
  std::vector<int64_t> controls_;
  int64_t in_model_ = 0, zero_ = -1, spare_ = -1;
};

class Llama {
 public:
  Llama(const std::string& directory, const ModelSettings& settings)
      : directory_(directory),
        config_(settings.config(), directory + "/config.json"),
        mistral_(config_.text("model_type") == "mistral"),
        tied_(config_.flag("tie_word_embeddings", false)),
        from_(std::make_shared<ForeignTensors>(read_weights(directory))),
        tokens_(read_tokens(settings)),
        map_(*from_) {}

  ForeignModel import() {
    ForeignModel model;
    model.what = mistral_ ? "a Mistral model" : "a Llama model";
    model.from = from_;
    model.content.config = ModelConfig::from_json(model_json(), directory_ + "/config.json");
    model.content.vocabularies = Vocabularies({tokens_.vocabulary});
    model.content.provenance =
        Json{{"converted", mistral_ ? "Mistral of Hugging Face" : "Llama of Hugging Face"}};
    for (const ParameterEntry& e : parameter_table(model.content.config))
      model.content.weights.push_back(float_tensor(e, rows_of(e), "F32"));
    map_.ignore("lm_head.weight");             // tied to the embedding
    map_.ignore("model.rotary_emb.inv_freq");  // a buffer, recomputed
    for (int i = 0; i < model.content.config.target().layers; ++i)
      map_.ignore("model.layers." + std::to_string(i) + ".self_attn.rotary_emb.inv_freq");
    map_.check_all_used();
    return model;
  }

 private:
  DecoderTokens read_tokens(const ModelSettings& settings) const {
    const int64_t rows = config_.size("vocab_size");
    check_rows(*from_, {"model.embed_tokens.weight", "lm_head.weight"}, rows);
    return TokensReader(directory_, config_, rows, settings).read();
  }

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
    config_.refuse("hidden_act is " + shown(config_.text("hidden_act")) +
                   ", which is not supported in gated layers");
  }

  // Older files have rope_theta and rope_scaling, newer ones rope_parameters with both.
  void add_positions(Json& json) const {
    const bool newer = config_.has("rope_parameters");
    const char* key = newer ? "rope_parameters" : "rope_scaling";
    const Json settings = config_.has(key) ? config_.json()[key] : Json::object();
    if (!settings.is_object()) config_.refuse(std::string(key) + " is not a JSON object");
    const FamilyConfig rope(settings, directory_ + "/config.json: " + key);
    json["rotary_base"] = newer && rope.has("rope_theta") ? rope.real("rope_theta", 0)
                                                          : config_.real("rope_theta", 10000);
    rope.must_be("partial_rotary_factor", 1.0);
    const std::string type = rope.has("rope_type") ? rope.text("rope_type")
                             : rope.has("type")    ? rope.text("type")
                                                   : "default";
    if (type == "default") return;
    if (type != "linear" && type != "llama3")
      rope.refuse("rope_type " + shown(type) + " is not supported; linear and llama3 are");
    json["rotary_scaling"] = type;
    json["rotary_factor"] = needed(rope, "factor");
    if (type != "llama3") return;
    json["rotary_low"] = needed(rope, "low_freq_factor");
    json["rotary_high"] = needed(rope, "high_freq_factor");
    json["rotary_length"] = rope.size("original_max_position_embeddings");
  }

  static double needed(const FamilyConfig& rope, const char* key) {
    if (!rope.has(key)) rope.refuse(std::string(key) + " is missing");
    return rope.real(key, 0);
  }

  WeightRows rows_of(const ParameterEntry& e) {
    if (e.name == "decoder.embedding.weight") {
      const std::string own = "model.embed_tokens.weight";
      const std::string found = tied_ ? map_.any_of({own, "lm_head.weight"}) : own;
      return rows_of_tokens(found.empty() ? own : found, e.cols);
    }
    if (e.name == "output.weight")
      return tokens_.order.rows(map_.take_output({tokens_.order.size(), e.cols}));
    return map_.take(llama_name(e.name), file_shape(e));
  }

  WeightRows rows_of_tokens(const std::string& name, int64_t d) {
    return tokens_.order.rows(map_.take(name, {tokens_.order.size(), d}));
  }

  const std::string& directory_;
  FamilyConfig config_;
  bool mistral_, tied_;
  std::shared_ptr<const ForeignTensors> from_;
  DecoderTokens tokens_;
  WeightMap map_;
};

}  // namespace

ForeignModel import_llama(const std::string& directory, const ModelSettings& settings) {
  return Llama(directory, settings).import();
}

}  // namespace tx
