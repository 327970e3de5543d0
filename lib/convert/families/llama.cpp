// Hugging Face's Llama and its relatives: pre-norm decoders with RMSNorm, rotary positions, gates
// and grouped queries (Touvron et al. 2023); Mistral with sliding windows (Jiang et al. 2023), Qwen
// 2 with biases of queries, keys and values, Qwen 3 with norms of heads.
#include "lib/convert/families/llama.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/formats/directory.h"
#include "lib/subword/subword.h"
#include "lib/subword/token_table.h"
#include "lib/subword/tokenizer/spec.h"

namespace tx {

namespace {

// tokenizer.model or tokenizer.json has the tokens and their ids; further rows are added tokens or
// unused.

struct DecoderTokens {
  TokenOrder order;  // one token per row of the embedding; Start::own
  std::shared_ptr<const Vocabulary> vocabulary;
  bool bos = true;  // whether texts begin with it
};

// tx needs tokens for pad and unk, and for bos even if texts do not begin with it: else it takes
// those of bytes that no text contains, or unused rows. DataError: no vocabulary, too many tokens,
// or texts without eos.
class TokensReader {
 public:
  // `rows` of the embedding.
  TokensReader(const LlamaFiles& files, const FamilyConfig& config, int64_t rows,
               const ModelSettings& settings)
      : files_(files), config_(config), rows_(rows), settings_(settings) {}

  DecoderTokens read() {
    return files_.sentencepiece.empty() ? of_tokenizer() : of_sentencepiece();
  }

 private:
  DecoderTokens of_tokenizer() const {
    const TokenizerSpec spec = read_tokenizer_json(files_.tokenizer, files_.vocabulary);
    const bool bos = !spec.before.empty();
    const SpecialIds known{own_pad(spec.unk), spec.unk, bos ? config_.size("bos_token_id") : -1,
                           config_.size("eos_token_id")};
    if (!spec.after.empty() || (bos && spec.before != std::vector<int>{int(known.start)}))
      throw DataError(files_.vocabulary +
                      ": the post_processor must put bos before a text, or nothing");
    tokenizer_settings([&](const FamilyConfig& own) { own.must_be("add_bos_token", bos); });
    SpecTokens tokens = tokens_of(spec, rows_, known, files_.vocabulary);
    if (bos) settings_.check_token("bos_token", tokens.content.tokens[Vocabulary::bos]);
    settings_.set_tokens(tokens.content, tokens.order);
    return {std::move(tokens.order),
            parse_vocabulary(mapped_bytes(tokens.content), files_.vocabulary), bos};
  }

  DecoderTokens of_sentencepiece() {
    content_.model = files_.sentencepiece;
    tokenizer_settings([&](const FamilyConfig& own) {
      own.must_be("add_bos_token", true);
      own.must_be("add_eos_token", false);
      if (!own.flag("add_prefix_space", true)) content_.model += without_prefix;
    });
    const PieceSplitter splitter(content_.model, files_.vocabulary);
    list(splitter.tokens());
    name_more_rows();
    const SpecialIds special = special_ids(splitter.unk());
    TokenOrder order(texts_, special, files_.configuration, Start::own);
    content_.tokens = order.tokens();
    content_.theirs = {special.pad, special.unk, special.start, special.eos};
    settings_.check_token("bos_token", texts_[size_t(special.start)]);
    settings_.set_tokens(content_, order);
    for (const int64_t theirs : controls_)
      if (order.id(theirs) >= Vocabulary::specials) content_.controls.push_back(order.id(theirs));
    return {std::move(order), parse_vocabulary(mapped_bytes(content_), files_.vocabulary)};
  }

  template <class F>
  void tokenizer_settings(const F& f) const {
    const std::string path = files_.where + "/tokenizer_config.json";
    const Json json = object_or_empty(path);
    f(FamilyConfig(json, path));
  }

  // pad_token_id if it is a token of its own, else -1.
  int64_t own_pad(int64_t unk) const {
    const Json& pad = config_.json().value("pad_token_id", Json());
    const int64_t own = pad.is_number_unsigned() ? config_.size("pad_token_id") : -1;
    const bool taken = own == unk || own == config_.size_or("bos_token_id", -1) ||
                       own == config_.size("eos_token_id");
    return taken ? -1 : own;
  }

  void list(const std::vector<ListedPiece>& tokens) {
    if (int64_t(tokens.size()) > rows_)
      throw DataError(files_.vocabulary + " has " + std::to_string(tokens.size()) +
                      " tokens, but " + files_.configuration + " says " + std::to_string(rows_));
    for (const ListedPiece& token : tokens) {
      const auto id = int64_t(texts_.size());
      if (token.control) controls_.push_back(id);
      if (token.byte && token.text == "<0x00>") zero_ = id;
      content_.bytes |= token.byte;
      texts_.push_back(token.text);
    }
    in_model_ = int64_t(texts_.size());
  }

  // Names the rows that follow those of the vocabulary, which are added tokens or unused.
  void name_more_rows() {
    std::map<int64_t, std::string> names;
    const Json added = object_or_empty(files_.where + "/added_tokens.json");
    for (const auto& [text, id] : added.items())
      if (id.is_number_unsigned()) names[id.get<int64_t>()] = text;
    const Json settings = object_or_empty(files_.where + "/tokenizer_config.json");
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
    SpecialIds ids{own_pad(unk), unk, config_.size("bos_token_id"), config_.size("eos_token_id")};
    if (ids.pad < 0) ids.pad = zero_ >= 0 ? zero_ : spare_;
    if (ids.pad < 0)
      throw DataError(files_.vocabulary + " has no token for padding: no pad_token_id in " +
                      files_.configuration +
                      ", no token for the byte 0 and no unused row in the embedding");
    return ids;
  }

  const LlamaFiles& files_;
  const FamilyConfig& config_;
  int64_t rows_;
  const ModelSettings& settings_;
  MappedTokens content_;
  std::vector<std::string> texts_;
  std::vector<int64_t> controls_;
  int64_t in_model_ = 0, zero_ = -1, spare_ = -1;
};

class Llama {
 public:
  Llama(LlamaFiles files, const ModelSettings& settings)
      : files_(std::move(files)),
        config_(settings.config(), files_.configuration),
        kind_(config_.text("model_type")),
        mistral_(kind_ == "mistral"),
        tied_(config_.flag("tie_word_embeddings", false)),
        rows_(config_.size("vocab_size")),
        tokens_(read_tokens(settings)),
        map_(*files_.weights) {}

  ForeignModel import() {
    static const std::map<std::string, std::string> names = {
        {"llama", "Llama"}, {"mistral", "Mistral"}, {"qwen2", "Qwen 2"}, {"qwen3", "Qwen 3"}};
    ForeignModel model;
    model.what = "a " + names.at(kind_) + " model";
    model.from = files_.weights;
    model.content.config = ModelConfig::from_json(model_json(), files_.configuration);
    model.content.vocabularies = Vocabularies({tokens_.vocabulary});
    const char* const form = is_directory(files_.where) ? " of Hugging Face" : " in GGUF";
    model.content.provenance = Json{{"converted", names.at(kind_) + form}};
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
    check_rows(*files_.weights, {"model.embed_tokens.weight", "lm_head.weight"}, rows_);
    return TokensReader(files_, config_, rows_, settings).read();
  }

  Json model_json() const {
    config_.must_be("partial_rotary_factor", 1.0);
    const int64_t heads = config_.size("num_attention_heads", 65535);
    if (heads == 0) config_.refuse("num_attention_heads is 0");
    const bool qwen2 = kind_ == "qwen2", qwen3 = kind_ == "qwen3";
    const int64_t width =
        config_.size_or("head_dim", qwen3 ? 128 : config_.size("hidden_size") / heads);
    const int64_t groups = mistral_ ? 8 : qwen2 || qwen3 ? 32 : heads;
    Json json{{"kind", "decoder"},
              {"target_vocabulary", rows_},
              {"decoder_layers", config_.size("num_hidden_layers", max_layers)},
              {"d_model", config_.size("hidden_size")},
              {"d_ff", config_.size("intermediate_size")},
              {"heads", heads},
              {"d_k", width},
              {"d_v", width},
              {"kv_heads", config_.has("num_key_value_heads") ? config_.size("num_key_value_heads")
                           : config_.json().contains("num_key_value_heads") ? heads
                                                                            : groups},
              {"activation", gate()},
              {"norm", "pre"},
              {"norm_type", "rms"},
              {"positions", "rotary"},
              {"tie", tied_ ? "target" : "none"},
              {"scaled_embeddings", false},
              {"attention_bias", config_.flag("attention_bias", qwen2)},
              {"attention_output_bias", !qwen2},
              {"head_norm", qwen3},
              {"source_bos", tokens_.bos},
              {"feed_forward_bias", config_.flag("mlp_bias", false)},
              {"norm_epsilon", config_.real("rms_norm_eps", 1e-6)}};
    add_positions(json);
    const bool named = config_.json().contains("sliding_window");
    const int64_t window = config_.size_or("sliding_window", mistral_ && !named ? 4096 : 0);
    if (mistral_ && window > 0) json["window"] = window;
    if (!qwen2 && !qwen3) return json;
    config_.must_be("use_sliding_window", false);
    for (const Json& kind : config_.json().value("layer_types", Json::array()))
      if (kind != "full_attention") config_.refuse("its layer_types are not all full_attention");
    return json;
  }

  std::string gate() const {
    const std::string name =
        config_.has("hidden_act") ? activation_of(config_, "hidden_act") : "silu";
    if (name == "silu") return "swiglu";
    if (name == "gelu") return "geglu";
    if (name == "gelu-tanh") return "geglu-tanh";
    config_.refuse("hidden_act is " + shown(config_.text("hidden_act")) +
                   ", which is not supported in gated layers");
  }

  // Older files have rope_theta and rope_scaling, newer ones rope_parameters with both.
  void add_positions(Json& json) const {
    const bool newer = config_.has("rope_parameters");
    const char* key = newer ? "rope_parameters" : "rope_scaling";
    const Json settings = config_.has(key) ? config_.json()[key] : Json::object();
    if (!settings.is_object()) config_.refuse(std::string(key) + " is not a JSON object");
    const FamilyConfig rope(settings, files_.configuration + ": " + key);
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
    if (e.name == "output.weight") return tokens_.order.rows(map_.take_output({rows_, e.cols}));
    WeightRows rows = map_.take(llama_name(e.name), file_shape(e));
    const bool turned =
        e.name.find("_attn.q_") != e.name.npos || e.name.find("_attn.k_") != e.name.npos;
    if (!files_.interleaved || !turned) return rows;
    const int64_t width = config_.size("head_dim"), half = width / 2;
    return picked(std::move(rows), e.rows, [=](int64_t row) {
      const int64_t at = row % width;
      return row - at + (at < half ? 2 * at : 2 * (at - half) + 1);
    });
  }

  WeightRows rows_of_tokens(const std::string& name, int64_t d) {
    return tokens_.order.rows(map_.take(name, {rows_, d}));
  }

  LlamaFiles files_;
  FamilyConfig config_;
  std::string kind_;
  bool mistral_, tied_;
  int64_t rows_;  // of the embedding
  DecoderTokens tokens_;
  WeightMap map_;
};

}  // namespace

ForeignModel import_llama(const std::string& directory, const ModelSettings& settings) {
  LlamaFiles files;
  files.where = directory;
  files.configuration = directory + "/config.json";
  files.weights = std::make_shared<ForeignTensors>(read_weights(directory));
  const std::string model = directory + "/tokenizer.model", json = directory + "/tokenizer.json";
  files.vocabulary = file_exists(model) ? model : json;
  if (file_exists(model))
    files.sentencepiece = read_sentencepiece(model);
  else if (file_exists(json))
    files.tokenizer = read_object(json);
  else
    throw DataError(directory + " has no vocabulary: neither tokenizer.model nor tokenizer.json");
  return Llama(std::move(files), settings).import();
}

ForeignModel import_gguf(const std::string& path) {
  LlamaFiles files = read_gguf(path);
  const ModelSettings settings(path, files.config, 0, ModelSettings::Text::raw);
  const Json about = files.about;
  ForeignModel model = Llama(std::move(files), settings).import();
  if (!about.empty()) model.content.provenance["package"] = about;
  return model;
}

}  // namespace tx
