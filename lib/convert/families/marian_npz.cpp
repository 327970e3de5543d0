// Marian's own formats (Junczys-Dowmunt et al. 2018) and those of Firefox's translators: an .npz
// archive of (in, out) matrices, or a .bin, perhaps of 8 bits, and its settings. LayerNorm epsilon
// 1e-6; embeddings scaled by sqrt(d_model); sinusoids in halves with frequencies spaced over
// d_model / 2 - 1. The decoder starts with zeros, and there is no pad: both get a row of zeros that
// is never output.
#include <algorithm>
#include <cstdio>
#include <tuple>

#include "lib/base/error.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/families/family.h"
#include "lib/convert/families/marian_npz_files.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/formats/directory.h"

namespace tx {

std::string marian_name(const std::string& ours, bool pre_norm) {
  static const std::map<std::string, std::string> products = {
      {"self_attn.q_proj", "self_@q"},     {"self_attn.k_proj", "self_@k"},
      {"self_attn.v_proj", "self_@v"},     {"self_attn.out_proj", "self_@o"},
      {"cross_attn.q_proj", "context_@q"}, {"cross_attn.k_proj", "context_@k"},
      {"cross_attn.v_proj", "context_@v"}, {"cross_attn.out_proj", "context_@o"},
      {"recurrence.in_proj", "rnn_@"},     {"recurrence.gate_proj", "rnn_@f"},
      {"ffn.in_proj", "ffn_@1"},           {"ffn.out_proj", "ffn_@2"}};
  static const std::map<std::string, std::string> norms = {{"self_attn_norm", "self_Wo"},
                                                           {"recurrence_norm", "rnn_ffn"},
                                                           {"cross_attn_norm", "context_Wo"},
                                                           {"ffn_norm", "ffn_ffn"}};
  const bool bias = ours.ends_with(".bias");
  const std::string stack = ours.substr(0, ours.find('.')), layers = stack + ".layers.";
  const std::string norm = bias ? "_ln_bias" : "_ln_scale";
  if (!ours.starts_with(layers)) return stack + "_top" + norm;
  const size_t end = ours.find('.', layers.size());
  const int layer = std::stoi(ours.substr(layers.size())) + 1;
  const std::string part = ours.substr(end + 1, ours.rfind('.') - end - 1);
  const std::string prefix = stack + "_l" + std::to_string(layer) + "_";
  if (pre_norm && part == "recurrence_norm") return prefix + "rnn" + norm + "_pre";
  if (const auto at = norms.find(part); at != norms.end())
    return prefix + at->second + norm + (pre_norm ? "_pre" : "");
  std::string name = products.at(part);
  return prefix + name.replace(name.find('@'), 1, bias ? "b" : "W");
}

namespace {

// The operations around a sub-layer, such as "dan" (dropout, add, norm), without dropout.
std::string steps_of(const FamilyConfig& c, const char* key, const char* otherwise) {
  std::string steps = c.has(key) ? c.text(key) : otherwise;
  std::erase(steps, 'd');
  return steps;
}

// Up to Marian 1.12.0 ("v1.12.0 COMMIT DATE") gelu was x sigmoid(1.702 x); since then it is exact.
bool has_exact_gelu(const FamilyConfig& c) {
  if (!c.has("version") || !c.json()["version"].is_string()) return false;
  int version[3] = {0, 0, 0};
  const std::string text = c.text("version");
  if (std::sscanf(text.c_str(), "v%d.%d.%d", &version[0], &version[1], &version[2]) != 3)
    return false;
  return std::tie(version[0], version[1], version[2]) > std::tuple(1, 12, 0);
}

bool is_recurrent(const FamilyConfig& c) {
  return c.has("transformer-decoder-autoreg") && c.json()["transformer-decoder-autoreg"] == "rnn";
}

// Refuses components of Marian that tx does not support.
void check_parts(const FamilyConfig& c) {
  if (c.text("type") != "transformer")
    c.refuse("model type " + shown(c.text("type")) + " is not supported; only transformer is");
  if (is_recurrent(c)) {
    c.must_be("dec-cell", "ssru");
    c.must_be("layer-normalization", false);
    c.must_be("transformer-rnn-projection", false);
  } else {
    c.must_be("transformer-decoder-autoreg", "self-attention");
  }
  c.must_be("transformer-attention-mask", "default");
  for (const char* key :
       {"transformer-no-projection", "transformer-pool", "transformer-train-position-embeddings",
        "transformer-train-positions", "transformer-disable-position-embeddings",
        "transformer-no-bias", "transformer-no-affine", "right-left", "ulr", "input-join-fields"})
    c.must_be(key, false);
  c.must_be("transformer-ffn-depth", 2);
  for (const auto& [key, other] :
       {std::pair{"transformer-decoder-ffn-depth", "transformer-ffn-depth"},
        {"transformer-decoder-dim-ffn", "transformer-dim-ffn"}})
    if (c.has(key) && c.json()[key] != 0) c.same(key, other);
  c.must_be("lemma-dim-emb", 0);
  for (const char* key : {"transformer-tied-layers", "input-types"})
    if (c.has(key) && c.json()[key] != Json{"sequence", "sequence"}) c.must_be(key, Json::array());
}

class MarianNpz {
 public:
  explicit MarianNpz(const std::string& directory)
      : in_(read_marian_npz(directory)), config_(in_.settings, in_.where), map_(*in_.weights) {
    check_parts(config_);
    for (const MarianNpzFiles::Side& side : in_.sides) {
      std::vector<std::string> tokens = side.tokens;
      std::string pad = "<pad>";
      while (std::find(tokens.begin(), tokens.end(), pad) != tokens.end()) pad += '_';
      tokens.push_back(pad);
      const auto zeros = int64_t(side.tokens.size());
      orders_.emplace_back(tokens, SpecialIds{zeros, side.unk, zeros, side.eos}, side.path);
    }
    const auto& [source, target] = in_.sides;
    if (tie() != "none" && tie() != "target" &&
        (source.unk != target.unk || source.eos != target.eos))
      throw DataError(source.path + " and " + target.path +
                      " have different ids for <unk> or </s>, but share their embeddings");
  }

  ForeignModel import() {
    ForeignModel model;
    model.what = "a model of Marian";
    model.from = in_.weights;
    model.content.config = ModelConfig::from_json(model_json(), in_.where);
    pre_norm_ = model.content.config.pre_norm();
    model.content.vocabularies = Vocabularies({vocabulary(0), vocabulary(1)});
    model.content.provenance = Json{{"converted", "Marian"}};
    read_decoder(model);
    add_weights(model, [this](const ParameterEntry& e) { return rows_of(e); });
    if (!in_.shortlist.empty()) model.shortlist = shortlist();
    map_.ignore("special:model.yml");
    for (const auto& [name, tensor] : in_.weights->all())
      if (name.ends_with("_QuantMultA")) map_.ignore(name);
    map_.check_all_used();
    if (in_.path.ends_with(".bin")) read_input_factors(model);
    return model;
  }

 private:
  // The one number of a tensor, or 0.
  float number(const std::string& name) const {
    const ForeignTensor* t = in_.weights->find(name);
    float value = 0;
    if (t != nullptr && t->dtype == "F32" && t->elements() == 1)
      to_floats(t->bytes.data(), t->dtype, 1, &value);
    return value;
  }

  // The factors of activations that were measured in advance, and those of the weights, which the
  // scales in the model file are only the rounded inverses of. The output may have another name.
  void read_input_factors(ForeignModel& model) const {
    Json factors = Json::object();
    for (const ParameterEntry& e : parameter_table(model.content.config)) {
      const bool layer = e.name.find(".layers.") != e.name.npos;
      const std::string name =
          layer ? marian_name(e.name, pre_norm_)
                : map_.any_of({"decoder_ff_logit_out_Wt", "decoder_Wemb", "Wemb"});
      float input = number(name + "_QuantMultA");
      if (input == 0 && !layer) input = number("none_QuantMultA");
      const float weight = number(name + "_scale");
      if (e.multiplied && input > 0 && weight > 0) factors[e.name] = {input, weight};
    }
    if (!factors.empty()) model.content.provenance["input_factors"] = factors;
  }

  // Defaults of the search, from decoder.yml.
  void read_decoder(ForeignModel& model) const {
    const FamilyConfig decoder(in_.decoder, in_.decoder_path);
    Json& defaults = model.content.provenance["defaults"] = Json::object();
    if (decoder.has("beam-size")) defaults["beam"] = decoder.size("beam-size", 1000);
    if (decoder.has("normalize")) defaults["alpha"] = decoder.real("normalize", 0);
    if (decoder.real("normalize", 0) != 0)
      model.warnings.push_back(in_.decoder_path + ": normalize becomes --alpha, which divides by " +
                               "((5 + length) / 6)^X instead of length^X");
    for (const char* key : {"word-penalty", "output-sampling", "force-decode", "right-left"})
      if (decoder.has(key) && !decoder.json()[key].empty() && decoder.json()[key] != 0 &&
          decoder.json()[key] != false)
        model.warnings.push_back(in_.decoder_path + " has " + key + " " +
                                 to_text(decoder.json()[key]) + ", which tx does not have");
    if (defaults.empty()) model.content.provenance.erase("defaults");
  }

  Json model_json() const {
    return Json{{"kind", "encoder-decoder"},
                {"source_vocabulary", orders_[0].size()},
                {"target_vocabulary", orders_[1].size()},
                {"encoder_layers", config_.size("enc-depth", max_layers)},
                {"decoder_layers", config_.size("dec-depth", max_layers)},
                {"d_model", config_.size("dim-emb")},
                {"d_ff", config_.size("transformer-dim-ffn")},
                {"heads", config_.size("transformer-heads", 65535)},
                {"decoder_memory", is_recurrent(config_) ? "ssru" : "attention"},
                {"activation", activation()},
                {"norm", norm()},
                {"positions", "fairseq"},
                {"tie", tie()},
                {"attention_bias", true},
                {"output_bias", true},
                {"norm_epsilon", 1e-6}};
  }

  std::string activation() const {
    const std::string name = config_.text("transformer-ffn-activation");
    if (name == "relu") return "relu";
    if (name == "swish") return "silu";
    if (name == "gelu") return has_exact_gelu(config_) ? "gelu" : "gelu-sigmoid";
    config_.refuse("transformer-ffn-activation is " + shown(name) + ", which is not supported");
  }

  std::string norm() const {
    const std::string before = steps_of(config_, "transformer-preprocess", ""),
                      after = steps_of(config_, "transformer-postprocess", "dan"),
                      top = steps_of(config_, "transformer-postprocess-top", "");
    if (!steps_of(config_, "transformer-postprocess-emb", "d").empty())
      config_.refuse("transformer-postprocess-emb is " +
                     shown(config_.text("transformer-postprocess-emb")) +
                     "; a norm on embeddings is not supported");
    if (before.empty() && after == "an" && top.empty()) return "post";
    if (before == "n" && after == "a" && top == "n") return "pre";
    config_.refuse(
        "transformer-preprocess, -postprocess and -postprocess-top are " + shown(before) + ", " +
        shown(after) + " and " + shown(top) +
        " without d; supported are \"\", \"an\", \"\" (post-norm) and \"n\", \"a\", \"n\" "
        "(pre-norm)");
  }

  std::string tie() const {
    const bool output = config_.flag("tied-embeddings", false),
               both = config_.flag("tied-embeddings-src", false);
    if (config_.flag("tied-embeddings-all", false) || (output && both)) return "all";
    return both ? "embeddings" : output ? "target" : "none";
  }

  Vocabularies::Pointer vocabulary(size_t which) const {
    const MarianNpzFiles::Side& side = in_.sides[which];
    const TokenOrder& order = orders_[which];
    if (side.subword_model.empty()) return parse_vocabulary(word_list(order.tokens()), side.path);
    MappedTokens content = order.content();
    content.bytes = side.bytes;
    content.tags = which == 0 && side.subword_model != side.path;  // as in OPUS-MT
    for (const int64_t theirs : side.controls)
      if (order.id(theirs) >= Vocabulary::specials) content.controls.push_back(order.id(theirs));
    if (which == 1) content.forbidden = forbidden(side);
    content.model = read_sentencepiece(side.subword_model);
    return parse_vocabulary(mapped_bytes(content), side.subword_model);
  }

  // Marian keeps the order of a list, not its probabilities: the n-th has 1 / n. Its own search
  // adds the first tokens of the vocabulary, the most frequent, to every list; and every source
  // ends with </s>.
  LexicalTable shortlist() const {
    const MappedFile file(in_.shortlist);
    const MarianShortlist theirs =
        parse_marian_shortlist({file.data(), size_t(file.size())}, in_.shortlist);
    LexicalTable table;
    table.of_source.resize(size_t(orders_[0].size()));
    const auto add = [&](std::vector<LexicalTable::Entry>& list, int64_t id) {
      const int own = orders_[1].id(id);
      if (own < 0) throw DataError(in_.shortlist + " has ids that the vocabulary lacks");
      if (own != Vocabulary::pad && own != Vocabulary::bos)
        list.push_back({own, 1 / double(list.size() + 1)});
    };
    for (uint64_t id = 0; id < theirs.first; ++id) add(table.frequent, int64_t(id));
    for (size_t source = 0; source < theirs.best.size(); ++source) {
      const int own = orders_[0].id(int64_t(source));
      if (own < 0) throw DataError(in_.shortlist + " has ids that the vocabulary lacks");
      std::vector<LexicalTable::Entry>& list =
          own == Vocabulary::eos ? table.frequent : table.of_source[size_t(own)];
      for (const uint32_t id : theirs.best[source]) add(list, id);
    }
    return table;
  }

  // By default Marian outputs neither <unk> nor bytes below 0x20.
  std::vector<int> forbidden(const MarianNpzFiles::Side& side) const {
    std::vector<int> ids;
    if (!FamilyConfig(in_.decoder, in_.decoder_path).flag("allow-unk", false))
      ids.push_back(Vocabulary::unk);
    for (size_t id = 0; id < side.tokens.size() && side.bytes; ++id)
      if (side.tokens[id].size() == 6 &&
          (side.tokens[id].starts_with("<0x0") || side.tokens[id].starts_with("<0x1")))
        ids.push_back(orders_[1].id(int64_t(id)));
    return ids;
  }

  WeightRows rows_of(const ParameterEntry& e) {
    const std::string output = "decoder_ff_logit_out_";
    if (e.name == "output.bias") return output_bias(output + "b");
    if (e.name == "embedding.weight") return embedding(0, "Wemb", e.cols);
    if (e.name == "encoder.embedding.weight") return embedding(0, "encoder_Wemb", e.cols);
    if (e.name == "decoder.embedding.weight") return embedding(1, "decoder_Wemb", e.cols);
    if (e.name != "output.weight") return matrix(marian_name(e.name, pre_norm_), e);
    const bool older = !map_.any_of({output + "W"}).empty();
    return in_order(1, older ? transposed(output + "W", tokens(1), e.cols)
                             : values(output + "Wt", {tokens(1), e.cols}));
  }

  int64_t tokens(size_t side) const { return orders_[side].size() - 2; }

  WeightRows embedding(size_t side, const std::string& name, int64_t d) {
    for (size_t other = side; other < (name == "Wemb" ? 2 : side + 1); ++other) {
      const auto& shape = in_.weights->at(name).shape;
      if (shape.size() == 2 && shape[0] != tokens(other))
        throw DataError(in_.sides[other].path + " has " + std::to_string(tokens(other)) +
                        " tokens, but " + name + " of " + in_.path + " has " +
                        std::to_string(shape[0]) + " rows");
    }
    return in_order(side, values(name, {tokens(side), d}));
  }

  // Their rows and a row of zeros, in our order.
  WeightRows in_order(size_t side, WeightRows theirs) const {
    const int64_t count = theirs.rows + 1;
    return orders_[side].rows(with_zeros(std::move(theirs), count));
  }

  WeightRows output_bias(const std::string& name) {
    const int64_t count = tokens(1);
    const bool omitted = config_.flag("output-omit-bias", false);
    const WeightRows theirs = omitted ? zeros(1, count) : map_.take(name, {count});
    return orders_[1].bias({1, count + 1, [theirs](int64_t first, int64_t rows, float* to) {
                              if (rows == 0) return;
                              theirs.read(first, 1, to);
                              to[theirs.cols] = never;
                            }});
  }

  WeightRows matrix(const std::string& name, const ParameterEntry& e) {
    const std::vector<int64_t> shape = file_shape(e);
    return shape.size() == 2 ? transposed(name, shape[0], shape[1]) : map_.take(name, shape);
  }

  // A matrix as it is stored.
  WeightRows values(const std::string& name, const std::vector<int64_t>& shape) {
    map_.ignore(name);
    map_.ignore(name + "_scale");
    return in_.weights->scaled_rows(name, shape);
  }

  // Their (in, out) matrix as (out, in), by its strides; those of 8 bits are transposed already.
  WeightRows transposed(const std::string& name, int64_t out, int64_t in) {
    if (in_.weights->at(name).dtype == "I8") return values(name, {out, in});
    map_.take(name, {in, out});  // checks
    ForeignTensor t = in_.weights->at(name);
    t.shape = {out, in};
    t.strides = {t.strides.back(), t.strides[t.strides.size() - 2]};
    transposed_->add(name, t);
    const std::shared_ptr<const ForeignTensors> keep = transposed_;
    WeightRows rows = keep->rows(name, {out, in});
    return {rows.rows, rows.cols,
            [keep, rows](int64_t first, int64_t count, float* to) { rows.read(first, count, to); }};
  }

  MarianNpzFiles in_;
  FamilyConfig config_;
  WeightMap map_;
  std::vector<TokenOrder> orders_;
  bool pre_norm_ = false;
  std::shared_ptr<ForeignTensors> transposed_ = std::make_shared<ForeignTensors>(in_.path);
};

}  // namespace

ForeignModel import_marian_npz(const std::string& directory) {
  return MarianNpz(directory).import();
}

}  // namespace tx
