// BART, mBART, M2M-100 and NLLB of Hugging Face: biases everywhere, one vocabulary.
// BART is post-norm; the others are pre-norm with a norm at the end of each stack. BART and mBART
// have learned positions from row 2 on and a norm of the embeddings, M2M-100 and NLLB have
// fairseq's sinusoids from position 2 on. The decoder reads </s>, then, where one is set, a
// language or BART's <s>, before the first token that it predicts.
#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/family.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/formats/directory.h"

namespace tx {

namespace {

// A text is <s> X </s>.
ModelTokens read_bart_tokens(const std::string& directory, const FamilyConfig& config,
                             const ModelSettings& settings) {
  const std::string path = directory + "/tokenizer.json";
  const TokenizerSpec spec = read_tokenizer_json(read_object(path), path);
  const int64_t eos = config.size("eos_token_id");
  const auto unk = std::ranges::find(spec.tokens, "<unk>");
  if (unk == spec.tokens.end()) throw DataError(path + " has no token <unk>");
  SpecTokens tokens = tokens_of(spec, config.size("vocab_size"),
                                {config.size("pad_token_id"), unk - spec.tokens.begin(),
                                 config.size_or("decoder_start_token_id", eos), eos},
                                path, Start::copied);
  settings.set_tokens(tokens.content, tokens.order);
  const auto vocabulary = [&](std::vector<int> prefix, int first) -> Vocabularies::Pointer {
    MappedTokens content = tokens.content;
    content.prefix = std::move(prefix);
    content.first = first;
    return parse_vocabulary(mapped_bytes(content), path);
  };
  const auto ours = [&](int64_t theirs, const char* what) {
    const int id = tokens.order.id(theirs);
    if (id < 0)
      throw DataError(path + ": " + what + " is " + std::to_string(theirs) +
                      ", which is not a token");
    return id;
  };
  std::vector<int> before;
  for (const int id : spec.before) before.push_back(ours(id, "a token before a text"));
  if (spec.after.size() != 1 || spec.after.front() != eos)
    throw DataError(path +
                    ": its tokenizer must put eos_token_id, and no other token, after a text");
  const int64_t first = settings.forced_bos();
  return {tokens.order,
          {{vocabulary(before, -1),
            vocabulary({}, first < 0 ? -1 : ours(first, "forced_bos_token_id"))}},
          ""};
}

class Bart {
 public:
  Bart(const std::string& directory, const ModelSettings& settings)
      : directory_(directory),
        settings_(settings),
        config_(settings.config(), directory + "/config.json"),
        type_(config_.text("model_type")),
        tied_(config_.flag("tie_word_embeddings", true)),
        from_(std::make_shared<ForeignTensors>(read_weights(directory))),
        map_(*from_),
        body_(map_.any_of(embeddings("model.")).empty() ? "" : "model."),
        shared_(!differ(*from_, embeddings(body_)[1], embeddings(body_)[2])),
        tokens_(read_tokens()) {}

  ForeignModel import() {
    ForeignModel model;
    const std::string name = type_ == "bart" ? "BART" : type_ == "mbart" ? "mBART" : "M2M-100";
    model.what = name == "M2M-100" ? "an M2M-100 or NLLB model" : "a " + name + " model";
    if (type_ == "mbart") model.what = "an mBART model" + tokens_.languages;
    model.from = from_;
    model.content.config = ModelConfig::from_json(model_json(), directory_ + "/config.json");
    model.content.vocabularies = tokens_.vocabularies;
    model.content.provenance = Json{{"converted", name + " of Hugging Face"}};
    for (const ParameterEntry& e : parameter_table(model.content.config))
      model.content.weights.push_back(float_tensor(e, rows_of(e), "F32"));
    if (!learned())
      for (const std::string stack : {"encoder", "decoder"})
        for (const char* part : {".embed_positions.weights", ".embed_positions.weight"})
          map_.ignore(body_ + stack + part);
    for (const std::string& copy : embeddings(body_)) map_.ignore(copy);
    map_.ignore("lm_head.weight");
    map_.check_all_used();
    return model;
  }

 private:
  bool learned() const { return type_ != "m2m_100"; }

  // The names of the matrix, which may have copies.
  static std::vector<std::string> embeddings(const std::string& body) {
    return {body + "shared.weight", body + "encoder.embed_tokens.weight",
            body + "decoder.embed_tokens.weight"};
  }

  ModelTokens read_tokens() const {
    check_rows(*from_, embeddings(body_), config_.size("vocab_size"));
    return type_ == "bart" ? read_bart_tokens(directory_, config_, settings_)
                           : read_multilingual(directory_, config_, settings_);
  }

  Json model_json() const {
    for (const auto& [key, value] : {std::pair{"normalize_before", type_ != "bart"},
                                     {"static_position_embeddings", !learned()}})
      config_.must_be(key, value);
    for (const auto& [key, value] : {std::pair{"add_final_layer_norm", type_ == "mbart"},
                                     {"normalize_embedding", true},
                                     {"add_bias_logits", false}})
      if (learned()) config_.must_be(key, value);
    Json json = bart_config(config_, tokens_.order.size(), tokens_.order.size());
    json["norm"] = type_ == "bart" ? "post" : "pre";
    json["tie"] = shared_ ? (tied_ ? "all" : "embeddings") : (tied_ ? "target" : "none");
    json["scaled_embeddings"] = config_.flag("scale_embedding", !learned());
    json["positions"] = learned() ? "learned" : "fairseq";
    json["position_offset"] = learned() ? 2 : config_.size("pad_token_id", 1024) + 1;
    json["embedding_norm"] = learned();
    if (learned()) json["max_positions"] = config_.size("max_position_embeddings") + 2;
    return json;
  }

  // Zeros in M2M-100: older files have them, and transformers no longer reads them.
  WeightRows output_bias() {
    const int64_t count = tokens_.order.size() - 1;
    const std::string name = "final_logits_bias";
    if (from_->find(name) == nullptr) return zeros(1, count);
    const WeightRows bias = map_.take(name, {count});
    if (learned()) return bias;
    std::vector<float> values(static_cast<size_t>(count));
    bias.read(0, 1, values.data());
    for (const float x : values)
      if (x != 0) throw DataError(from_->where() + ": " + name + " must be zero");
    return bias;
  }

  WeightRows rows_of(const ParameterEntry& e) {
    const std::vector<int64_t> shape = {tokens_.order.size() - 1, e.cols};
    // bos, the copy of the token that starts the decoder, is never output.
    if (e.name == "output.bias") return tokens_.order.bias(settings_.masked(output_bias()));
    if (e.name == "output.weight") return tokens_.order.rows(map_.take_output(shape));
    const size_t at = e.name.find("embedding.weight");
    if (at == std::string::npos)
      return map_.take(body_ + bart_name(e.name).substr(std::string("model.").size()),
                       file_shape(e));
    std::vector<std::string> names = embeddings(body_);
    if (!shared_) names = {body_ + e.name.substr(0, at) + "embed_tokens.weight"};
    if (tied_) names.push_back("lm_head.weight");
    const std::string found = map_.any_of(names);
    return tokens_.order.rows(map_.take(found.empty() ? names[0] : found, shape));
  }

  const std::string& directory_;
  const ModelSettings& settings_;
  FamilyConfig config_;
  std::string type_;
  bool tied_;
  std::shared_ptr<const ForeignTensors> from_;
  WeightMap map_;
  std::string body_;  // the beginning of names; "" in files of the body alone
  bool shared_;       // the embeddings of both stacks
  ModelTokens tokens_;
};

}  // namespace

ForeignModel import_bart(const std::string& directory, const ModelSettings& settings) {
  return Bart(directory, settings).import();
}

}  // namespace tx
