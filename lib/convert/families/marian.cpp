// Hugging Face's MarianMT, the format of OPUS-MT models: post-norm, biases everywhere, embeddings
// scaled by sqrt(d_model), sinusoids in halves, an output bias. The decoder starts with pad, whose
// row is zeros; it is not part of the softmax, as in CTranslate2 and in transformers with greedy
// search or renormalize_logits. source.spm and target.spm tokenise text; the ids come from
// vocab.json for both sides, or from target_vocab.json for the target.
#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/family.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/formats/directory.h"

namespace tx {

namespace {

class Marian {
 public:
  Marian(const std::string& directory, const ModelSettings& settings)
      : directory_(directory),
        settings_(settings),
        config_(settings.config(), directory + "/config.json"),
        shared_(config_.flag("share_encoder_decoder_embeddings", true)),
        tied_(config_.flag("tie_word_embeddings", true)),
        from_(std::make_shared<ForeignTensors>(read_weights(directory))),
        map_(*from_) {
    if (differ(*from_, "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"))
      shared_ = false;
  }

  ForeignModel import() {
    ForeignModel model;
    model.what = "a MarianMT model";
    model.from = from_;
    read_orders();
    model.content.config = ModelConfig::from_json(model_json(), directory_ + "/config.json");
    model.content.vocabularies = Vocabularies({vocabulary(0), vocabulary(1)});
    model.content.provenance = Json{{"converted", "MarianMT of Hugging Face"}};
    for (const ParameterEntry& e : parameter_table(model.content.config))
      model.content.weights.push_back(float_tensor(e, rows_of(e), "F32"));
    for (const std::string stack : {"encoder", "decoder"})
      map_.ignore("model." + stack + ".embed_positions.weight");
    for (const char* copy : {"model.shared.weight", "model.encoder.embed_tokens.weight",
                             "model.decoder.embed_tokens.weight", "lm_head.weight"})
      map_.ignore(copy);
    map_.check_all_used();
    return model;
  }

 private:
  void read_orders() {
    const bool separate = file_exists(directory_ + "/target_vocab.json");
    for (size_t side = 0; side < 2; ++side) {
      const std::string path =
          directory_ + (side == 1 && separate ? "/target_vocab.json" : "/vocab.json");
      const std::vector<std::string> tokens = read_token_ids(path);
      const int64_t rows = side == 0
                               ? config_.size("vocab_size")
                               : config_.size_or("decoder_vocab_size", config_.size("vocab_size"));
      if (int64_t(tokens.size()) != rows)
        throw DataError(path + " has " + std::to_string(tokens.size()) + " tokens, but " +
                        directory_ + "/config.json says " + std::to_string(rows));
      const auto unk = std::find(tokens.begin(), tokens.end(), "<unk>");
      if (unk == tokens.end()) throw DataError(path + " has no token <unk>");
      settings_.check_token("unk_token", "<unk>");
      const int64_t pad = config_.size("pad_token_id"), eos = config_.size("eos_token_id");
      if (eos < rows) settings_.check_token("eos_token", tokens[size_t(eos)]);
      orders_.emplace_back(tokens,
                           SpecialIds{pad, unk - tokens.begin(),
                                      config_.size_or("decoder_start_token_id", pad), eos},
                           path);
    }
  }

  Json model_json() const {
    for (const auto& [key, value] : {std::pair{"normalize_before", false},
                                     {"add_final_layer_norm", false},
                                     {"normalize_embedding", false},
                                     {"add_bias_logits", false},
                                     {"static_position_embeddings", true}})
      config_.must_be(key, value);
    const std::string tie = shared_ ? (tied_ ? "all" : "embeddings") : (tied_ ? "target" : "none");
    Json json = bart_config(config_, orders_[0].size(), orders_[1].size());
    json["norm"] = "post";
    json["positions"] = "halves";
    json["tie"] = tie;
    json["scaled_embeddings"] = config_.flag("scale_embedding", false);
    return json;
  }

  Vocabularies::Pointer vocabulary(size_t side) const {
    const std::string name = side == 0 ? "/source.spm" : "/target.spm";
    MappedTokens content = orders_[side].content();
    content.tags = side == 0;
    content.model = read_sentencepiece(directory_ + name);
    if (side == 1) settings_.set_tokens(content, orders_[1]);
    return parse_vocabulary(mapped_bytes(content), directory_ + name);
  }

  WeightRows rows_of(const ParameterEntry& e) {
    const int64_t d = e.cols;
    if (e.name == "output.bias") {
      const int64_t count = orders_[1].size() - 1;
      return orders_[1].bias(settings_.masked(map_.take("final_logits_bias", {count})), true);
    }
    if (e.name == "embedding.weight") return embedding(0, {"shared"}, d);
    if (e.name == "encoder.embedding.weight") return embedding(0, {"encoder.embed_tokens"}, d);
    if (e.name == "decoder.embedding.weight") return embedding(1, {"decoder.embed_tokens"}, d);
    if (e.name == "output.weight")
      return orders_[1].rows(map_.take_output({orders_[1].size() - 1, d}));
    return map_.take(bart_name(e.name), file_shape(e));
  }

  // Tied tensors are stored under any of their names.
  WeightRows embedding(size_t side, std::vector<std::string> names, int64_t d) {
    if (shared_) {
      names.push_back("encoder.embed_tokens");
      names.push_back("decoder.embed_tokens");
    }
    for (std::string& name : names) name = "model." + name + ".weight";
    if (tied_ && (shared_ || side == 1)) names.push_back("lm_head.weight");
    const std::string found = map_.any_of(names);
    return orders_[side].rows(
        map_.take(found.empty() ? names[0] : found, {orders_[side].size() - 1, d}));
  }

  const std::string& directory_;
  const ModelSettings& settings_;
  FamilyConfig config_;
  bool shared_, tied_;
  std::shared_ptr<const ForeignTensors> from_;
  WeightMap map_;
  std::vector<TokenOrder> orders_;
};

}  // namespace

ForeignModel import_marian(const std::string& directory, const ModelSettings& settings) {
  return Marian(directory, settings).import();
}

}  // namespace tx
