// A directory of Hugging Face's LlamaForCausalLM: config.json, generation_config.json,
// model.safetensors, tokenizer.model and the tokenizer's settings. Llama does not scale its
// embedding: a scaled one is written multiplied, with the output matrix as a separate tensor.
#include <cmath>
#include <numeric>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/family.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/output.h"
#include "lib/subword/subword.h"

namespace tx {

namespace {

class LlamaWriter {
 public:
  LlamaWriter(OutputDirectory& directory, const ModelReader& model, int max_positions)
      : directory_(directory),
        model_(model),
        config_(model.config()),
        vocabulary_(model.vocabularies().target()),
        content_(vocabulary_.mapped()),
        max_positions_(max_positions) {
    check_fits();
    number_tokens();
  }

  void write() {
    write_weights();
    write_atomically(directory_.file("tokenizer.model"), subword_model(vocabulary_));
    write_added();
    directory_.write_json("config.json", configuration());
    Json generation{{"bos_token_id", special_[Vocabulary::bos]},
                    {"eos_token_id", ends_},
                    {"pad_token_id", special_[Vocabulary::pad]}};
    if (!forbidden_.empty()) generation["suppress_tokens"] = forbidden_;
    directory_.write_json("generation_config.json", generation);
    directory_.write_json("tokenizer_config.json", Json{{"tokenizer_class", "LlamaTokenizer"},
                                                        {"add_bos_token", true},
                                                        {"add_eos_token", false},
                                                        {"clean_up_tokenization_spaces", false},
                                                        {"legacy", true},
                                                        {"add_prefix_space", !no_prefix_},
                                                        {"model_max_length", max_positions_},
                                                        {"unk_token", token(Vocabulary::unk)},
                                                        {"bos_token", token(Vocabulary::bos)},
                                                        {"eos_token", token(Vocabulary::eos)},
                                                        {"pad_token", token(Vocabulary::pad)}});
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw DataError(model_.path() + " cannot be converted to Llama: " + why);
  }

  void check_fits() const {
    const ModelConfig& c = config_;
    if (c.kind != ModelKind::decoder) refuse("its kind is " + c.kind.name + ", not decoder");
    if (c.not_exported()) refuse(std::string("it was trained with ") + c.not_exported());
    if (model_.has_int8())
      throw DataError(model_.path() +
                      " has 8-bit weights; convert the model that it was quantised from");
    if (!c.pre_norm() || c.norm_type != NormType::rms)
      refuse("it does not use RMSNorm before sub-layers (--norm-type rms, --norm-position pre)");
    if (!c.gated())
      refuse("its feed-forward layers are not gated (--activation " + c.activation.name + ")");
    if (!c.rotary()) refuse("its positions are " + c.positions.name + ", not rotary");
    if (c.rotary_scaling == RotaryScaling::ntk) refuse("its rotary positions use NTK scaling");
    if (c.window != 0 && (c.attention_bias || c.feed_forward_bias))
      refuse("only Mistral has a sliding window and only Llama has biases; it has both");
    if (c.output_bias) refuse("its output layer has a bias (--output-bias)");
    if (c.d_k != c.d_v) refuse("d_v differs from d_k (--d-v)");
    if (!has_subword_model(vocabulary_))
      refuse("its vocabulary is not a SentencePiece model, which the tokenizer needs");
  }

  // Token ids in the output: the original ids of an imported model, else tx's.
  void number_tokens() {
    from_.resize(size_t(vocabulary_.size()));
    if (content_ == nullptr) {
      std::iota(from_.begin(), from_.end(), 0);
      special_ = {0, 1, 2, 3};
      ends_ = special_[Vocabulary::eos];
      return;
    }
    const MappedTokens& content = *content_;
    const TokenOrder order = TokenOrder::of(content, model_.path(), Start::own);
    for (int id = 0; id < order.size(); ++id) from_[size_t(order.from(id))] = id;
    special_ = content.theirs;
    ends_ = special_[Vocabulary::eos];
    for (const int id : content.ends) {
      if (!ends_.is_array()) ends_ = Json::array({ends_});
      ends_.push_back(order.from(id));
    }
    for (const int id : content.forbidden) forbidden_.push_back(order.from(id));
    no_prefix_ = content.model.ends_with(without_prefix);
  }

  std::string token(int id) const { return vocabulary_.token(id); }

  // added_tokens.json: the named rows after the subword model's tokens. pad is always listed.
  void write_added() const {
    if (content_ == nullptr) return;
    const PieceSplitter splitter(content_->model, model_.path());
    Json added = Json::object();
    for (auto id = int64_t(splitter.tokens().size()); id < vocabulary_.size(); ++id) {
      const std::string text = token(int(from_[size_t(id)]));
      if (id == special_[Vocabulary::pad] || text != unnamed_row(id)) added[text] = id;
    }
    if (!added.empty()) directory_.write_json("added_tokens.json", added);
  }

  Json configuration() const {
    const ModelConfig& c = config_;
    const bool window = c.window != 0;
    Json json{{"architectures", {window ? "MistralForCausalLM" : "LlamaForCausalLM"}},
              {"model_type", window ? "mistral" : "llama"},
              {"vocab_size", vocabulary_.size()},
              {"hidden_size", c.d_model},
              {"intermediate_size", c.d_ff},
              {"num_hidden_layers", c.target().layers},
              {"num_attention_heads", c.heads},
              {"num_key_value_heads", c.key_heads()},
              {"head_dim", c.d_k},
              {"hidden_act", c.activation == Activation::swiglu  ? "silu"
                             : c.activation == Activation::geglu ? "gelu"
                                                                 : "gelu_pytorch_tanh"},
              {"max_position_embeddings", max_positions_},
              {"rms_norm_eps", c.norm_epsilon},
              {"rope_theta", c.rotary_base},
              {"tie_word_embeddings", !c.has_output() && !separate_output()},
              {"bos_token_id", special_[Vocabulary::bos]},
              {"eos_token_id", ends_},
              {"pad_token_id", special_[Vocabulary::pad]},
              {"torch_dtype", "float32"}};
    if (window) json["sliding_window"] = c.window;
    if (!window) json["attention_bias"] = c.attention_bias;
    if (!window) json["mlp_bias"] = c.feed_forward_bias;
    json["rope_scaling"] = Json();
    if (c.rotary_scaling == RotaryScaling::none) return json;
    json["rope_scaling"] = Json{{"rope_type", c.rotary_scaling.name}, {"factor", c.rotary_factor}};
    if (c.rotary_scaling == RotaryScaling::llama3)
      json["rope_scaling"].update(Json{{"low_freq_factor", c.rotary_low},
                                       {"high_freq_factor", c.rotary_high},
                                       {"original_max_position_embeddings", c.rotary_length}});
    return json;
  }

  // Whether a tied output must be written separately: Llama does not scale embeddings.
  bool separate_output() const { return config_.scaled_embeddings && !config_.has_output(); }

  void write_weights() const {
    std::vector<TensorSource> tensors;
    const auto add = [&](ParameterEntry e, const std::string& name, const WeightRows& rows) {
      e.name = name;
      tensors.push_back(float_tensor(e, rows, "F32"));
    };
    const float scale = config_.scaled_embeddings ? std::sqrt(float(config_.d_model)) : 1;
    for (const ParameterEntry& e : model_.table()) {
      if (e.name.ends_with("embedding.weight")) {
        add(e, llama_name(e.name), reordered(e, scale));
        if (separate_output()) add(e, "lm_head.weight", reordered(e));
      } else {
        add(e, llama_name(e.name), e.name == "output.weight" ? reordered(e) : model_.rows(e));
      }
    }
    write_safetensors(directory_.file("model.safetensors"), std::move(tensors), {{"format", "pt"}});
  }

  WeightRows reordered(const ParameterEntry& e, float scale = 1) const {
    const WeightRows own = model_.rows(e);
    return {e.rows, e.cols, [this, own, scale](int64_t first, int64_t count, float* to) {
              for (int64_t i = first; i < first + count; ++i, to += own.cols) {
                own.read(from_[size_t(i)], 1, to);
                for (int64_t j = 0; j < own.cols; ++j) to[j] *= scale;
              }
            }};
  }

  OutputDirectory& directory_;
  const ModelReader& model_;
  const ModelConfig& config_;
  const Vocabulary& vocabulary_;
  const MappedTokens* content_;  // null: a subword model of tx
  int max_positions_;
  bool no_prefix_ = false;        // text begins without a space
  std::vector<int64_t> from_;     // our id for each of theirs
  std::vector<int64_t> special_;  // their ids of Vocabulary::pad ...
  std::vector<int64_t> forbidden_;
  Json ends_;  // their id of eos, or ids of the tokens that end an output
};

}  // namespace

void write_llama(OutputDirectory& directory, const ModelReader& model, int max_positions) {
  LlamaWriter(directory, model, max_positions).write();
}

}  // namespace tx
