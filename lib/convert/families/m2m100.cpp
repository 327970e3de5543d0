// M2M-100 and NLLB of Hugging Face: pre-norm with a norm at the end of each stack, biases
// everywhere, embeddings scaled by sqrt(d_model), fairseq's sinusoids, whose first token has row 2.
// The decoder reads </s>, then the language that it is to write.
#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/layers.h"
#include "lib/convert/families/multilingual_pieces.h"
#include "lib/convert/formats/folder.h"

namespace tx {

namespace {

class M2M100 {
 public:
  M2M100(const std::string& folder, const Json& json)
      : folder_(folder),
        config_(json, folder + "/config.json"),
        tied_(config_.flag("tie_word_embeddings", true)),
        tokens_(read_multilingual_tokens(folder, config_)),
        from_(std::make_shared<ForeignTensors>(read_weights(folder))),
        map_(*from_) {}

  ForeignModel import() {
    ForeignModel model;
    model.what = "an M2M-100 or NLLB model";
    model.from = from_;
    model.content.config = ModelConfig::from_json(model_json(), folder_ + "/config.json");
    model.content.vocabularies = tokens_.vocabularies;
    model.content.provenance = Json{{"converted", "M2M-100 of Hugging Face"}};
    check_bias();
    for (const ParameterEntry& e : parameter_table(model.content.config))
      model.content.weights.push_back(float_tensor(e, rows_of(e), "F32"));
    for (const std::string stack : {"encoder", "decoder"})
      for (const char* name : {".embed_positions.weights", ".embed_positions.weight"})
        map_.ignore("model." + stack + name);
    for (const char* copy : embeddings) map_.ignore(copy);
    map_.ignore("lm_head.weight");
    map_.check_all_used();
    return model;
  }

 private:
  static constexpr const char* embeddings[] = {"model.shared.weight",
                                               "model.encoder.embed_tokens.weight",
                                               "model.decoder.embed_tokens.weight"};

  Json model_json() const {
    for (const auto& [key, value] :
         {std::pair{"normalize_before", true}, {"static_position_embeddings", true}})
      config_.must_be(key, value);
    Json json = bart_config(config_, tokens_.order.size(), tokens_.order.size());
    json["norm"] = "pre";
    json["positions"] = "fairseq";
    json["position_offset"] = config_.size("pad_token_id", 1024) + 1;
    json["tie"] = tied_ ? "all" : "embeddings";
    json["scaled_embeddings"] = config_.flag("scale_embedding", true);
    return json;
  }

  // Older files have a bias of the output that is zeros, and that transformers no longer reads.
  void check_bias() {
    const std::string name = "final_logits_bias";
    if (from_->find(name) == nullptr) return;
    const int64_t count = tokens_.order.size() - 1;
    std::vector<float> values(static_cast<size_t>(count));
    map_.take(name, {count}).read(0, 1, values.data());
    for (const float x : values)
      if (x != 0) throw DataError(from_->where() + ": " + name + " is not zero");
  }

  // It takes the second row of </s>, which the decoder begins with, out of the softmax.
  WeightRows zero_bias() const {
    const int64_t count = tokens_.order.size() - 1;
    return tokens_.order.bias({1, count, [count](int64_t, int64_t rows, float* to) {
                                 std::fill(to, to + rows * count, 0.0f);
                               }});
  }

  WeightRows rows_of(const ParameterEntry& e) {
    if (e.name == "output.bias") return zero_bias();
    const std::vector<int64_t> shape = {tokens_.order.size() - 1, e.cols};
    if (e.name == "output.weight") {
      if (from_->find("lm_head.weight") == nullptr)
        throw DataError(folder_ +
                        " lacks lm_head.weight, but config.json says that it is not the "
                        "embedding (tie_word_embeddings false)");
      return tokens_.order.rows(map_.take("lm_head.weight", shape));
    }
    if (e.name != "embedding.weight") return map_.take(bart_name(e.name), file_shape(e));
    std::vector<std::string> names(std::begin(embeddings), std::end(embeddings));
    if (tied_) names.push_back("lm_head.weight");
    const std::string found = map_.any_of(names);
    return tokens_.order.rows(map_.take(found.empty() ? names[0] : found, shape));
  }

  const std::string& folder_;
  FamilyConfig config_;
  bool tied_;
  MultilingualTokens tokens_;
  std::shared_ptr<const ForeignTensors> from_;
  WeightMap map_;
};

}  // namespace

ForeignModel import_m2m100(const std::string& folder, const Json& config) {
  return M2M100(folder, config).import();
}

}  // namespace tx
