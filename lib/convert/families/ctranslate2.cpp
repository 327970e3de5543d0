// Models of CTranslate2. q, k and v are the rows of one matrix.
#include <algorithm>
#include <cmath>
#include <map>

#include "lib/base/error.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/ctranslate2_files.h"
#include "lib/model/positions.h"

namespace tx {

namespace {

class CTranslate2 {
 public:
  explicit CTranslate2(const std::string& path)
      : files_(path),
        config_(files_.settings(), files_.where("config.json")),
        stacks_(files_.stacks()),
        weights_(files_.model()->tensors),
        map_(files_.used()) {}

  ForeignModel import() {
    files_.read_vocabularies();
    ForeignModel out;
    out.what = files_.is_package() ? "a package of Argos Translate" : "a model of CTranslate2";
    out.from = {files_.model(), &weights_};
    out.content.config = ModelConfig::from_json(model_json(), files_.where("model.bin"));
    out.content.vocabularies = files_.vocabularies();
    out.content.provenance = Json{{"converted", "CTranslate2"}};
    if (const Json package = files_.package(); !package.empty())
      out.content.provenance["package"] = package;
    out.shortlist = files_.shortlist();
    add_weights(out, [this](const ParameterEntry& e) { return rows_of(e); });
    ignore_rest(out.content.config);
    map_.check_all_used();
    return out;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { files_.refuse(why); }
  double scalar(const std::string& stack, const std::string& name, double otherwise) {
    return files_.scalar(stack, name, otherwise);
  }
  // The same for all stacks.
  double setting(const std::string& name, double otherwise) {
    const double first = scalar(stacks_[0], name, otherwise);
    if (scalar("decoder", name, otherwise) != first)
      refuse(name + " differs between encoder and decoder, but tx has one setting for both");
    return first;
  }
  bool only_decoder() const { return files_.only_decoder(); }
  std::string embeddings(size_t side) const {
    return only_decoder() || side > 0 ? "decoder/embeddings/weight" : "encoder/embeddings_0/weight";
  }
  bool has(const std::string& name) const { return weights_.find(name) != nullptr; }

  Json model_json() {
    const std::string first = stacks_[0] + "/layer_0/";
    const ForeignTensor& embedding = weights_.at(embeddings(0));
    const ForeignTensor& inner = weights_.at(first + "ffn/linear_0/weight");
    if (embedding.shape.size() != 2 || inner.shape.size() != 2) refuse("its matrices have no rows");
    d_ = embedding.shape[1];
    heads_ = int64_t(setting("num_heads", files_.model()->spec == "TransformerBig" ? 16 : 8));
    kv_heads_ = key_heads();
    if (heads_ < 1 || heads_ > 65535 || kv_heads_ < 1 || kv_heads_ > heads_)
      refuse("it has no heads");
    const auto& joined = weights_.at(first + "self_attention/linear_0/weight");
    d_k_ = joined.shape.empty() ? 0 : joined.shape[0] / (heads_ + 2 * kv_heads_);
    Json json{{"kind", only_decoder() ? "decoder" : "encoder-decoder"},
              {"target_vocabulary", target_order().size()},
              {"decoder_layers", layers("decoder")},
              {"d_model", d_},
              {"d_ff", inner.shape[0]},
              {"heads", heads_},
              {"d_k", d_k_},
              {"activation", activation()},
              {"norm", setting("pre_norm", 1) != 0 ? "pre" : "post"},
              {"norm_type", has(first + "ffn/layer_norm/beta") ? "layer" : "rms"},
              {"tie", tie()},
              {"scaled_embeddings", scaled_embeddings()},
              {"attention_bias", has(first + "self_attention/linear_0/bias")},
              {"feed_forward_bias", has(first + "ffn/linear_0/bias")},
              {"output_bias", true}};
    if (only_decoder()) {
      json["source_bos"] = false;
    } else {
      json["source_vocabulary"] = files_.order(0).size();
      json["encoder_layers"] = layers("encoder");
      json["source_eos"] =
          config_.flag("add_source_eos", false) || scalar("", "with_source_eos", 0) != 0;
    }
    if (kv_heads_ != heads_) json["kv_heads"] = kv_heads_;
    json["norm_epsilon"] =
        config_.real("layer_norm_epsilon", json["norm_type"] == "layer" ? 1e-5 : 1e-6);
    config_.must_be("quantization_type", 0);
    if (config_.flag("add_source_bos", false) || scalar("", "with_source_bos", 0) != 0)
      refuse("its sources begin with <s>, which is not supported");
    if (scalar("encoder", "embeddings_merge", 0) != 0)
      refuse("its source has several features, which are not supported");
    for (const char* name : {"alignment_layer", "alignment_heads"}) scalar("decoder", name, 0);
    positions(json);
    return json;
  }

  // Stated by each layer, if they are fewer.
  int64_t key_heads() {
    const double all = setting("num_heads_kv", double(heads_));
    const double own = scalar(stacks_[0] + "/layer_0/self_attention", "num_heads_kv", all);
    for (const std::string& stack : stacks_)
      for (int64_t i = 0; i < layers(stack); ++i)
        for (const char* kind : {"/self_attention", "/attention"}) {
          const std::string to = stack + "/layer_" + std::to_string(i) + kind;
          if (has(to + "/linear_0/weight") && scalar(to, "num_heads_kv", all) != own)
            refuse("the heads of its keys differ between layers");
        }
    return int64_t(own);
  }

  int64_t layers(const std::string& stack) const {
    int64_t count = 0;
    while (has(stack + "/layer_" + std::to_string(count) + "/ffn/linear_0/weight"))
      if (++count > max_layers) refuse("it has too many layers");
    return count;
  }

  bool gated() const { return has(stacks_[0] + "/layer_0/ffn/linear_0_noact/weight"); }

  std::string activation() {
    static const std::map<int, std::string> plain = {
        {0, "relu"}, {1, "gelu-tanh"}, {2, "silu"}, {3, "gelu"}, {4, "gelu-sigmoid"}};
    const int theirs = int(setting("activation", 0));
    const auto at = plain.find(theirs);
    if (gated() && theirs == 2) return "swiglu";
    if (gated() && theirs == 3) return "geglu";
    if (gated() && theirs == 1) return "geglu-tanh";
    if (gated() || at == plain.end())
      refuse("its activation, number " + std::to_string(theirs) + (gated() ? " with a gate" : "") +
             ", is not supported");
    return at->second;
  }

  // A flag, or the factor itself.
  bool scaled_embeddings() {
    const double factor = setting("scale_embeddings", 1);
    if (factor == 0 || factor == 1) {
      const std::string key = map_.any_of({stacks_[0] + "/scale_embeddings", "scale_embeddings"});
      return key.empty() || (weights_.at(key).dtype != "F32" && factor == 1);
    }
    if (std::abs(factor - std::sqrt(double(d_))) > 1e-3)
      refuse("it multiplies embeddings by " + std::to_string(factor) +
             "; only the root of their width is supported");
    return true;
  }

  void positions(Json& json) {
    if (has(stacks_[0] + "/layer_0/self_attention/rotary_dim")) return rotary_positions(json);
    json["position_offset"] = 1;
    json["positions"] = "fairseq";  // built in
    const std::string first = their_positions(stacks_[0]), last = their_positions("decoder");
    if (!has(first) && !has(last)) return;
    const ForeignTensor& t = weights_.at(first);
    if (t.shape.size() != 2 || t.shape[1] != d_ || weights_.at(last).shape != t.shape)
      refuse("its position encodings are not tables of the same size");
    for (const PositionEncoding layout :
         {PositionEncoding::sinusoid, PositionEncoding::halves, PositionEncoding::fairseq})
      for (int offset = 0; offset < 3 && d_ > 2; ++offset) {
        if (!same_bytes(first, last) || !equals_sinusoids(first, t.shape[0], layout, offset))
          continue;
        json["positions"] = name_of_value(layout);
        json["position_offset"] = offset;
        map_.ignore(first);
        map_.ignore(last);
        return;
      }
    json["positions"] = "learned";
    json["max_positions"] = t.shape[0];
    json["position_offset"] = 0;
  }

  static std::string their_positions(const std::string& stack) {
    return stack + "/position_encodings/encodings";
  }

  bool equals_sinusoids(const std::string& name, int64_t rows, PositionEncoding layout,
                        int offset) const {
    const WeightRows table = weights_.rows(name, {rows, d_});
    std::vector<float> values(static_cast<size_t>(d_));
    for (int64_t row = 0; row < std::min<int64_t>(rows, 64); ++row) {
      table.read(row, 1, values.data());
      const std::vector<double> wanted = sinusoid(row + offset, d_, layout);
      for (size_t i = 0; i < values.size(); ++i)
        if (std::abs(double(values[i]) - wanted[i]) > 1e-4) return false;
    }
    return rows > 0;
  }

  void rotary_positions(Json& json) {
    json["positions"] = "rotary";
    const double base = scalar(stacks_[0] + "/layer_0/self_attention", "rotary_base", 10000);
    for (const std::string& stack : stacks_)
      for (int64_t i = 0; i < layers(stack); ++i) {
        const std::string to = stack + "/layer_" + std::to_string(i) + "/self_attention";
        if (scalar(to, "rotary_dim", 0) != double(d_k_) ||
            scalar(to, "rotary_base", 10000) != base || scalar(to, "rotary_interleave", 1) != 0)
          refuse(
              "its rotary positions rotate a part of the head or neighbouring features, which "
              "is not supported");
      }
    json["rotary_base"] = base;
  }

  bool same_bytes(const std::string& a, const std::string& b) const {
    const ForeignTensor *x = weights_.find(a), *y = weights_.find(b);
    return x && y && x->dtype == y->dtype && x->shape == y->shape && x->bytes == y->bytes;
  }
  bool same_weights(const std::string& a, const std::string& b) const {
    return same_bytes(a, b) && (!has(a + "_scale") || same_bytes(a + "_scale", b + "_scale"));
  }

  std::string tie() const {
    const std::string output = "decoder/projection/weight", target = "decoder/embeddings/weight";
    const bool sides = files_.shared() && same_weights("encoder/embeddings_0/weight", target);
    const bool predicted = same_weights(target, output);
    if (only_decoder()) return predicted ? "all" : "none";
    return sides && predicted ? "all" : sides ? "embeddings" : predicted ? "target" : "none";
  }

  // Their name of one of our weights; several of ours can be parts of one of theirs.
  std::string their_name(const std::string& ours) const {
    static const std::map<std::string, std::string> parts = {
        {"self_attn.q_proj", "self_attention/linear_0"},
        {"self_attn.k_proj", "self_attention/linear_0"},
        {"self_attn.v_proj", "self_attention/linear_0"},
        {"self_attn.out_proj", "self_attention/linear_1"},
        {"cross_attn.q_proj", "attention/linear_0"},
        {"cross_attn.k_proj", "attention/linear_1"},
        {"cross_attn.v_proj", "attention/linear_1"},
        {"cross_attn.out_proj", "attention/linear_2"},
        {"ffn.out_proj", "ffn/linear_1"},
        {"self_attn_norm", "self_attention/layer_norm"},
        {"cross_attn_norm", "attention/layer_norm"},
        {"ffn_norm", "ffn/layer_norm"},
        {"norm", "layer_norm"}};
    if (ours == "embedding.weight") return embeddings(0);
    if (ours.ends_with(".embedding.weight")) return embeddings(ours.starts_with("encoder") ? 0 : 1);
    if (ours.starts_with("output.")) return "decoder/projection/" + ours.substr(7);
    const std::string stack = ours.substr(0, 7);
    if (ours.ends_with("positions.weight")) return their_positions(stack);
    std::string part = ours.substr(8), to = stack + "/";
    if (part.starts_with("layers.")) {
      const size_t end = part.find('.', 7);
      to += "layer_" + part.substr(7, end - 7) + "/";
      part.erase(0, end + 1);
    }
    const size_t last = part.rfind('.');
    const std::string kind = part.substr(last + 1), module = part.substr(0, last);
    const auto at = parts.find(module);
    if (at == parts.end()) {  // ffn.gate_proj or ffn.in_proj, which is linear_0 without a gate
      const bool behind_gate = module == "ffn.in_proj" && gated();
      return to + (behind_gate ? "ffn/linear_0_noact/" : "ffn/linear_0/") + kind;
    }
    const bool norm = module.ends_with("norm");
    return to + at->second + "/" + (!norm ? kind : kind == "weight" ? "gamma" : "beta");
  }

  WeightRows values(const std::string& name, const std::vector<int64_t>& shape) {
    ignore(name);
    return weights_.scaled_rows(name, shape);
  }
  void ignore(const std::string& name) {
    map_.ignore(name);
    map_.ignore(name + "_scale");
  }

  WeightRows rows_of(const ParameterEntry& e) {
    const std::string name = their_name(e.name);
    if (e.name == "output.bias") return output_bias();
    if (e.name.ends_with("embedding.weight") || e.name == "output.weight") {
      const size_t side = name.starts_with("encoder") ? 0 : stacks_.size() - 1;
      return in_order(side, values(name, {files_.sides()[side].theirs, d_}));
    }
    const bool bias = e.name.ends_with("_proj.bias");
    if (bias && !has(name)) return zeros(1, e.cols);
    const Slice slice = slice_of(e.name);
    if (slice.all == 0) return values(name, file_shape(e));
    if (!bias)
      return picked(values(name, {slice.all, e.cols}), e.rows,
                    [first = slice.first](int64_t row) { return first + row; });
    return {1, e.cols,
            [slice, cols = e.cols, all = values(name, {slice.all})](int64_t first, int64_t count,
                                                                    float* to) {
              std::vector<float> whole(size_t(slice.all));
              all.read(first, count, whole.data());
              if (count > 0) std::copy_n(whole.begin() + slice.first, cols, to);
            }};
  }

  // Marks as used what is a second name of a weight, and switches that are off.
  void ignore_rest(const ModelConfig& config) {
    if (config.shares_embeddings()) ignore("decoder/embeddings/weight");
    if (!config.has_output()) ignore("decoder/projection/weight");
    for (const auto& [name, tensor] : weights_.all())
      if (tensor.shape.empty() && tensor.bytes.find_first_not_of('\0') == tensor.bytes.npos)
        map_.ignore(name);
  }

  // Where q, k and v are in the joined matrix; `all` is 0 for other weights.
  struct Slice {
    int64_t first = 0, all = 0;
  };
  Slice slice_of(const std::string& ours) const {
    const int64_t queries = heads_ * d_k_, keys = kv_heads_ * d_k_;
    const auto is = [&](const char* part) { return ours.find(part) != ours.npos; };
    const int64_t own = queries + 2 * keys;
    if (is("self_attn.q_proj")) return {0, own};
    if (is("self_attn.k_proj")) return {queries, own};
    if (is("self_attn.v_proj")) return {queries + keys, own};
    if (is("cross_attn.k_proj")) return {0, 2 * keys};
    if (is("cross_attn.v_proj")) return {keys, 2 * keys};
    return {};
  }

  // Their embeddings and rows of zeros, in our order.
  WeightRows in_order(size_t side, WeightRows theirs) const {
    const auto& tokens = files_.sides()[side].tokens;
    return files_.order(side).rows(with_zeros(std::move(theirs), std::ssize(tokens)));
  }

  // Rows that they do not have are never output.
  WeightRows output_bias() {
    const std::string name = "decoder/projection/bias";
    const int64_t count = files_.sides().back().theirs;
    return target_order().own_bias(has(name) ? values(name, {count}) : zeros(1, count));
  }

  const TokenOrder& target_order() const { return files_.order(stacks_.size() - 1); }

  CTranslate2Files files_;
  FamilyConfig config_;
  const std::vector<std::string>& stacks_;
  const ForeignTensors& weights_;
  WeightMap& map_;
  int64_t d_ = 0, heads_ = 0, kv_heads_ = 0, d_k_ = 0;
};

}  // namespace

ForeignModel import_ctranslate2(const std::string& path) { return CTranslate2(path).import(); }

}  // namespace tx
