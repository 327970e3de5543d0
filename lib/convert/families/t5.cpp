// T5 (Raffel et al. 2020), T5 1.1, Flan-T5, mT5 and MADLAD-400 of Hugging Face: RMSNorm before
// sub-layers, no biases, scores that are not divided by sqrt(d_k), and a learned bias of scores by
// distance, which the layers of a stack share. The decoder starts with <pad>.
#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/family.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/formats/directory.h"
#include "lib/subword/subword.h"

namespace tx {

namespace {

class T5 {
 public:
  T5(const std::string& directory, const ModelSettings& settings)
      : directory_(directory),
        settings_(settings),
        config_(settings.config(), directory + "/config.json"),
        type_(config_.text("model_type")),
        rows_(config_.size("vocab_size")),
        from_(std::make_shared<ForeignTensors>(read_weights(directory))),
        map_(*from_),
        shared_(!differ(*from_, "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")),
        tied_(from_->find("lm_head.weight") == nullptr ||
              !differ(*from_, embedding("decoder."), "lm_head.weight")),
        tokens_(read_tokens()) {}

  ForeignModel import() {
    ForeignModel model;
    model.what = type_ == "mt5" ? "an mT5 model" : "a T5 model";
    model.from = from_;
    model.content.config = ModelConfig::from_json(model_json(), directory_ + "/config.json");
    model.content.vocabularies = tokens_.vocabularies;
    model.content.provenance =
        Json{{"converted", std::string(type_ == "mt5" ? "mT5" : "T5") + " of Hugging Face"}};
    for (const ParameterEntry& e : parameter_table(model.content.config))
      model.content.weights.push_back(float_tensor(e, rows_of(e), "F32"));
    for (const std::string& copy : embeddings()) map_.ignore(copy);
    map_.ignore("lm_head.weight");
    // In older files, but not part of the model.
    map_.ignore("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight");
    map_.check_all_used();
    return model;
  }

 private:
  static std::vector<std::string> embeddings() {
    return {"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"};
  }
  // The embedding of a stack, "encoder.", "decoder." or, of both, "".
  std::string embedding(const std::string& stack) const {
    const std::string own = stack + "embed_tokens.weight";
    if (!shared_ && from_->find(own)) return own;
    const std::string found = map_.any_of(embeddings());
    return found.empty() ? embeddings().front() : found;
  }

  ModelTokens read_tokens() const {
    check_rows(*from_, embeddings(), rows_);
    const int64_t pad = config_.size("pad_token_id"), eos = config_.size("eos_token_id");
    const SpecialIds special{pad, -1, config_.size_or("decoder_start_token_id", pad), eos};
    return file_exists(directory_ + "/tokenizer.json") ? described_tokens(special)
                                                       : listed_tokens(special);
  }

  ModelTokens described_tokens(SpecialIds special) const {
    const std::string path = directory_ + "/tokenizer.json";
    const TokenizerSpec spec = read_tokenizer_json(read_object(path), path);
    if (!spec.before.empty() || spec.after != std::vector<int>{int(special.eos)})
      throw DataError(path + ": its tokenizer must put eos_token_id, and no other token, after a " +
                      "text");
    special.unk = spec.unk;
    SpecTokens tokens = tokens_of(spec, rows_, special, path, Start::copied);
    return with_settings(tokens.order, std::move(tokens.content), path);
  }

  // spiece.model, then <extra_id_0> and others in reverse, which its text does not give.
  ModelTokens listed_tokens(SpecialIds special) const {
    const std::string path = directory_ + "/spiece.model";
    MappedTokens content;
    content.model = read_sentencepiece(path);
    std::vector<std::string> texts;
    for (const ListedPiece& piece : PieceSplitter(content.model, path).tokens())
      texts.push_back(piece.text);
    if (int64_t(texts.size()) > rows_)
      throw DataError(path + " has " + std::to_string(texts.size()) +
                      " tokens, but vocab_size in " + directory_ + "/config.json is " +
                      std::to_string(rows_));
    const auto pieces = int64_t(texts.size());
    for (int64_t id = pieces; id < rows_; ++id) texts.push_back(unnamed_row(id));
    special.unk = std::ranges::find(texts, "<unk>") - texts.begin();
    const TokenOrder order(texts, special, path);
    content.tokens = order.tokens();
    content.theirs = {special.pad, special.unk, special.start, special.eos};
    for (int64_t id = pieces; id < rows_; ++id) content.controls.push_back(order.id(id));
    return with_settings(order, std::move(content), path);
  }

  ModelTokens with_settings(const TokenOrder& order, MappedTokens content,
                            const std::string& path) const {
    settings_.set_tokens(content, order);
    const Vocabularies::Pointer tokens = parse_vocabulary(mapped_bytes(content), path);
    return {order, {{tokens, tokens}}, ""};
  }

  std::string activation() const {
    const std::string theirs =
        config_.has("feed_forward_proj") ? config_.text("feed_forward_proj") : "relu";
    static const std::map<std::string, std::string> names = {{"relu", "relu"},
                                                             {"gelu", "gelu"},
                                                             {"silu", "silu"},
                                                             {"gelu_new", "gelu-tanh"},
                                                             {"gated-gelu", "geglu-tanh"},
                                                             {"gated-gelu_new", "geglu-tanh"},
                                                             {"gated-silu", "swiglu"}};
    const auto at = names.find(theirs);
    if (at == names.end())
      config_.refuse("feed_forward_proj is " + shown(theirs) + ", which is not supported");
    return at->second;
  }

  Json model_json() const {
    const int64_t layers = config_.size("num_layers", max_layers);
    const int64_t buckets = config_.size_or("relative_attention_num_buckets", 32);
    return Json{{"kind", "encoder-decoder"},
                {"source_vocabulary", tokens_.order.size()},
                {"target_vocabulary", tokens_.order.size()},
                {"encoder_layers", layers},
                {"decoder_layers", config_.has("num_decoder_layers")
                                       ? config_.size("num_decoder_layers", max_layers)
                                       : layers},
                {"d_model", config_.size("d_model")},
                {"d_ff", config_.size("d_ff")},
                {"d_k", config_.size("d_kv", 65536)},
                {"heads", config_.size("num_heads", 65535)},
                {"activation", activation()},
                {"norm", "pre"},
                {"norm_type", "rms"},
                {"norm_epsilon", config_.real("layer_norm_epsilon", 1e-6)},
                {"positions", "relative"},
                {"distance_buckets", buckets},
                {"distance_reach", config_.size_or("relative_attention_max_distance", 128)},
                {"tie", shared_ ? (tied_ ? "all" : "embeddings") : (tied_ ? "target" : "none")},
                {"scaled_embeddings", false},
                {"scaled_attention", false},
                {"feed_forward_bias", false},
                {"output_bias", true}};
  }

  // T5 up to 1.0 divides the decoder's output by sqrt(d_model): we divide its last norm's weight.
  double output_scale() const {
    const bool scaled = type_ == "t5" && config_.flag("scale_decoder_outputs",
                                                      config_.flag("tie_word_embeddings", true));
    return scaled ? 1 / std::sqrt(double(config_.size("d_model"))) : 1;
  }

  std::string their_name(const std::string& ours) const {
    static const std::pair<const char*, const char*> parts[] = {
        {"self_attn.q_proj", "0.SelfAttention.q"},
        {"self_attn.k_proj", "0.SelfAttention.k"},
        {"self_attn.v_proj", "0.SelfAttention.v"},
        {"self_attn.out_proj", "0.SelfAttention.o"},
        {"self_attn_norm", "0.layer_norm"},
        {"cross_attn.q_proj", "1.EncDecAttention.q"},
        {"cross_attn.k_proj", "1.EncDecAttention.k"},
        {"cross_attn.v_proj", "1.EncDecAttention.v"},
        {"cross_attn.out_proj", "1.EncDecAttention.o"},
        {"cross_attn_norm", "1.layer_norm"},
        {"ffn.gate_proj", "DenseReluDense.wi_0"},
        {"ffn.out_proj", "DenseReluDense.wo"},
        {"ffn_norm", "layer_norm"},
        {"ffn.in_proj", from_->find("encoder.block.0.layer.1.DenseReluDense.wi.weight")
                            ? "DenseReluDense.wi"
                            : "DenseReluDense.wi_1"}};
    const std::string stack = ours.substr(0, ours.find('.'));
    if (ours == stack + ".norm.weight") return stack + ".final_layer_norm.weight";
    const size_t number = stack.size() + std::string(".layers.").size(),
                 part = ours.find('.', number) + 1, end = ours.rfind('.');
    const std::string own = ours.substr(part, end - part);
    const auto at =
        std::ranges::find(parts, own, [](const auto& p) { return std::string(p.first); });
    TX_ASSERT(at != std::end(parts));
    const std::string last = !own.starts_with("ffn") ? "" : stack == "encoder" ? "1." : "2.";
    return stack + ".block." + ours.substr(number, part - number) + "layer." + last + at->second +
           ours.substr(end);
  }

  // Theirs is (buckets, heads), ours heads after heads.
  WeightRows distances(const std::string& stack, int64_t count) {
    const int64_t heads = config_.size("num_heads", 65535), buckets = count / heads;
    const WeightRows theirs = map_.take(
        stack + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight", {buckets, heads});
    return {1, count, [=](int64_t, int64_t n, float* to) {
              std::vector<float> all(static_cast<size_t>(count));
              if (n > 0) theirs.read(0, buckets, all.data());
              for (int64_t i = 0; n > 0 && i < count; ++i)
                to[i] = all[size_t(i % buckets * heads + i / buckets)];
            }};
  }

  WeightRows rows_of(const ParameterEntry& e) {
    const TokenOrder& order = tokens_.order;
    const std::string stack = e.name.substr(0, e.name.find('.'));
    if (e.name.ends_with("embedding.weight"))
      return order.rows(
          map_.take(embedding(stack == "embedding" ? "" : stack + "."), {rows_, e.cols}));
    if (e.name == "output.weight") return order.rows(map_.take("lm_head.weight", {rows_, e.cols}));
    if (e.name == "output.bias") return order.bias(settings_.masked(zeros(1, rows_)));
    if (e.name == stack + ".distances.weight") return distances(stack, e.cols);
    WeightRows rows = map_.take(their_name(e.name), file_shape(e));
    if (e.name != "decoder.norm.weight") return rows;
    return {rows.rows, rows.cols, [rows, by = output_scale()](int64_t first, int64_t n, float* to) {
              rows.read(first, n, to);
              for (int64_t i = 0; i < n * rows.cols; ++i) to[i] = float(double(to[i]) * by);
            }};
  }

  const std::string& directory_;
  const ModelSettings& settings_;
  FamilyConfig config_;
  std::string type_;
  int64_t rows_;  // of the embedding
  std::shared_ptr<const ForeignTensors> from_;
  WeightMap map_;
  bool shared_, tied_;  // the embeddings of both stacks; the output
  ModelTokens tokens_;
};

}  // namespace

ForeignModel import_t5(const std::string& directory, const ModelSettings& settings) {
  return T5(directory, settings).import();
}

}  // namespace tx
