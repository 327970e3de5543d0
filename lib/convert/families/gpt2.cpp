// GPT-2 of Hugging Face: a decoder with learned positions, LayerNorm before the sub-layers, biases
// everywhere and the tanh form of GELU (Radford et al. 2019). Its layers compute x W; queries, keys
// and values are one matrix. Its tokenizer is in tokenizer.json, or in vocab.json and merges.txt;
// with vocab.json alone the vocabulary is a word list, for text that other programs tokenise. It
// has neither pad nor unk: both get a row of zeros and are never output. <|endoftext|> is both bos
// and eos.
#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/split.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/family.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/formats/directory.h"

namespace tx {

namespace {

constexpr int64_t no_row = -1;  // a token that tx adds

// GPT-2's tensors under tx's names, transposed and sliced by strides, without copies.
class TransposedWeights {
 public:
  TransposedWeights(std::shared_ptr<const ForeignTensors> from, int64_t d, int64_t layers)
      : from_(std::move(from)), d_(d), transposed_(from_->where()) {
    transposed_.keep(from_);
    prefix_ = from_->find("transformer.wte.weight") != nullptr ? "transformer." : "";
    copy("decoder.embedding", "wte", {"weight"});
    copy("decoder.positions", "wpe", {"weight"});
    copy("decoder.norm", "ln_f", {"weight", "bias"});
    if (from_->find("lm_head.weight") != nullptr) {
      transposed_.add("output.weight", from_->at("lm_head.weight"));
      used_.push_back("lm_head.weight");
    }
    for (int64_t i = 0; i < layers; ++i) add_layer(i);
    for (const auto& [name, tensor] : from_->all())
      if (std::find(used_.begin(), used_.end(), name) == used_.end() && !is_mask(name))
        transposed_.add(name, tensor);  // unused: check_all_used() reports it
  }
  const ForeignTensors& tensors() const { return transposed_; }

 private:
  // Buffers in older files.
  static bool is_mask(const std::string& name) {
    return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias");
  }
  const ForeignTensor& take(const std::string& name) {
    used_.push_back(prefix_ + name);
    return from_->at(used_.back());
  }
  void copy(const std::string& ours, const std::string& theirs,
            const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
      transposed_.add(ours + "." + part, take(theirs + "." + part));
  }
  // Columns [first, first + count) of a matrix, or elements of its bias.
  void transpose(const std::string& ours, const std::string& theirs, int64_t first, int64_t count) {
    ForeignTensor w = part_of(take(theirs + ".weight"), first, count, theirs);
    if (w.shape.size() == 2) {
      std::swap(w.shape[0], w.shape[1]);
      std::swap(w.strides[0], w.strides[1]);
    }
    transposed_.add(ours + ".weight", w);
    transposed_.add(ours + ".bias", part_of(take(theirs + ".bias"), first, count, theirs));
  }
  ForeignTensor part_of(ForeignTensor t, int64_t first, int64_t count,
                        const std::string& name) const {
    if (t.shape.empty() || t.shape.back() < first + count)
      throw DataError(from_->where() + ": " + prefix_ + name + " has the shape " +
                      shape_text(t.shape) + "; expected at least " + std::to_string(first + count) +
                      " columns");
    t.shape.back() = count;
    const auto begin = size_t(first * t.strides.back() * element_size(t.dtype));
    t.bytes = t.bytes.substr(std::min(begin, t.bytes.size()));
    return t;
  }
  int64_t columns(const std::string& name) const {
    const auto& shape = from_->at(prefix_ + name).shape;
    return shape.empty() ? 0 : shape.back();
  }
  void add_layer(int64_t i) {
    const std::string ours = "decoder.layers." + std::to_string(i) + ".";
    const std::string theirs = "h." + std::to_string(i) + ".";
    const std::string attention = theirs + "attn.c_attn";
    transpose(ours + "self_attn.q_proj", attention, 0, d_);
    transpose(ours + "self_attn.k_proj", attention, d_, d_);
    transpose(ours + "self_attn.v_proj", attention, 2 * d_, d_);
    for (const auto& [own, other] : {std::pair{"self_attn.out_proj", "attn.c_proj"},
                                     {"ffn.in_proj", "mlp.c_fc"},
                                     {"ffn.out_proj", "mlp.c_proj"}})
      transpose(ours + own, theirs + other, 0, columns(theirs + other + ".weight"));
    copy(ours + "self_attn_norm", theirs + "ln_1", {"weight", "bias"});
    copy(ours + "ffn_norm", theirs + "ln_2", {"weight", "bias"});
  }

  std::shared_ptr<const ForeignTensors> from_;
  int64_t d_;
  ForeignTensors transposed_;
  std::string prefix_;
  std::vector<std::string> used_;
};

class Gpt2 {
 public:
  Gpt2(const std::string& directory, const ModelSettings& settings)
      : directory_(directory),
        config_(settings.config(), directory + "/config.json"),
        tied_(config_.flag("tie_word_embeddings", true)),
        rows_(config_.size("vocab_size")),
        weights_(std::make_shared<TransposedWeights>(
            std::make_shared<ForeignTensors>(read_weights(directory)), config_.size("n_embd"),
            config_.size("n_layer", max_layers))),
        map_(weights_->tensors()) {
    check_rows(weights_->tensors(), {"decoder.embedding.weight"}, rows_);
    settings.refuse_tokens({});
    number_tokens();
  }

  ForeignModel import() {
    ForeignModel model;
    model.what = "a GPT-2 model";
    model.from = {weights_, &weights_->tensors()};
    model.content.config = ModelConfig::from_json(model_json(), directory_ + "/config.json");
    model.content.vocabularies = Vocabularies({vocabulary()});
    model.content.provenance = Json{{"converted", "GPT-2 of Hugging Face"}};
    for (const ParameterEntry& e : parameter_table(model.content.config))
      model.content.weights.push_back(float_tensor(e, rows_of(e), "F32"));
    if (tied_) map_.ignore("output.weight");
    map_.check_all_used();
    return model;
  }

 private:
  // As transformers makes it of vocab.json and merges.txt.
  std::optional<TokenizerSpec> read_merges(const std::vector<std::string>& tokens,
                                           int64_t eos) const {
    const std::string path = directory_ + "/merges.txt";
    if (!file_exists(path)) return std::nullopt;
    TokenizerSpec spec;
    spec.tokens = tokens;
    const Json bytes{{"type", "ByteLevel"}, {"add_prefix_space", false}};
    spec.splitter = spec.decoder = {bytes};
    if (eos < int64_t(tokens.size()))
      spec.added.push_back(
          {.id = int(eos), .text = tokens[size_t(eos)], .special = true, .in_model = true});
    std::vector<std::pair<std::string, std::string>> merges;
    for (const std::string& line : split_at(read_file(path, int64_t(1) << 28), '\n')) {
      const auto fields = split_at(line, ' ');
      if (fields.size() == 2 && !line.starts_with("#version"))
        merges.emplace_back(fields[0], fields[1]);
    }
    set_merges(spec, merges, path);
    return spec;
  }

  Vocabularies::Pointer vocabulary() const {
    if (!spec_) return parse_vocabulary(word_list(tokens_), directory_ + "/vocab.json");
    MappedTokens content;
    content.forbidden = {Vocabulary::unk};
    for (size_t id = 0; id < tokens_.size(); ++id) {
      const int64_t theirs = from_[id];
      std::string text = tokens_[id];
      if (text.empty()) text = unnamed_row(theirs);
      if (id < Vocabulary::eos) text = Vocabulary::special_names[id];
      if (id < Vocabulary::specials) content.theirs.push_back(theirs);
      content.tokens.push_back(text);
    }
    for (const AddedToken& token : spec_->added)
      if (const auto at = std::find(from_.begin() + Vocabulary::specials, from_.end(), token.id);
          token.special && at != from_.end())
        content.controls.push_back(int(at - from_.begin()));
    content.model = tokenizer_bytes(*spec_);
    return parse_vocabulary(mapped_bytes(content), directory_);
  }

  void number_tokens() {
    spec_ = find_tokenizer(directory_);
    const std::string path = directory_ + (spec_ ? "/tokenizer.json" : "/vocab.json");
    const std::vector<std::string> theirs = spec_ ? spec_->tokens : read_token_ids(path);
    if (int64_t(theirs.size()) > rows_)
      throw DataError(path + " has " + std::to_string(theirs.size()) + " tokens, but " +
                      directory_ + "/config.json says " + std::to_string(rows_));
    const int64_t eos = config_.size("eos_token_id");
    if (eos >= rows_)
      config_.refuse("eos_token_id is " + std::to_string(eos) + ", outside the " +
                     std::to_string(rows_) + " tokens");
    if (!spec_) spec_ = read_merges(theirs, eos);
    from_ = {no_row, no_row, eos, eos};
    for (int64_t id = 0; id < rows_; ++id)
      if (id != eos) from_.push_back(id);
    for (const int64_t id : from_)
      tokens_.push_back(id < 0 || id >= int64_t(theirs.size()) ? "" : theirs[size_t(id)]);
  }

  Json model_json() const {
    for (const auto& [key, value] : {std::pair{"scale_attn_weights", true},
                                     {"scale_attn_by_inverse_layer_idx", false},
                                     {"add_cross_attention", false}})
      config_.must_be(key, value);
    const int64_t d = config_.size("n_embd");
    return Json{{"kind", "decoder"},
                {"target_vocabulary", int64_t(from_.size())},
                {"decoder_layers", config_.size("n_layer", max_layers)},
                {"d_model", d},
                {"d_ff", config_.size_or("n_inner", 4 * d)},
                {"heads", config_.size("n_head", 65535)},
                {"activation", config_.has("activation_function")
                                   ? activation_of(config_, "activation_function")
                                   : "gelu-tanh"},
                {"norm", "pre"},
                {"positions", "learned"},
                {"max_positions", config_.size("n_positions")},
                {"tie", tied_ ? "target" : "none"},
                {"scaled_embeddings", false},
                {"attention_bias", true},
                {"output_bias", true},
                {"norm_epsilon", config_.real("layer_norm_epsilon", 1e-5)}};
  }

  WeightRows rows_of(const ParameterEntry& e) {
    if (e.name == "output.bias")
      return {1, int64_t(from_.size()), [size = from_.size()](int64_t, int64_t count, float* to) {
                if (count == 0) return;
                std::fill(to, to + size, 0.0f);
                std::fill(to, to + Vocabulary::eos, never);  // pad, unk, and bos, the copy of eos
              }};
    if (e.name != "decoder.embedding.weight" && e.name != "output.weight")
      return map_.take(e.name, file_shape(e));
    return {int64_t(from_.size()), e.cols,
            [from = from_, theirs = map_.take(e.name, {rows_, e.cols})](int64_t first,
                                                                        int64_t count, float* to) {
              for (int64_t i = first; i < first + count; ++i, to += theirs.cols) {
                std::fill(to, to + theirs.cols, 0.0f);
                if (from[size_t(i)] >= 0) theirs.read(from[size_t(i)], 1, to);
              }
            }};
  }

  const std::string& directory_;
  FamilyConfig config_;
  bool tied_;
  int64_t rows_;
  std::shared_ptr<const TransposedWeights> weights_;
  WeightMap map_;
  std::vector<int64_t> from_;  // their id for each of ours
  std::vector<std::string> tokens_;
  std::optional<TokenizerSpec> spec_;
};

}  // namespace

ForeignModel import_gpt2(const std::string& directory, const ModelSettings& settings) {
  return Gpt2(directory, settings).import();
}

}  // namespace tx
