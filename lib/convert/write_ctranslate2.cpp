// CTranslate2's directory: model.bin (version 6), config.json, the tokens of each vocabulary as
// JSON, and the subword models, for users. model.bin, little-endian: u32 6; the class; u32 its
// revision; u32 count, then the variables sorted by name (name, u8 rank, u32 dims, u8 dtype, u32
// bytes, data); u32 count, then aliases (name, the variable that it stands for). A string is a u16
// length that counts its NUL, then its bytes.
#include <algorithm>
#include <bit>
#include <limits>

#include "lib/base/error.h"
#include "lib/checkpoint/transfer.h"
#include "lib/convert/output.h"
#include "lib/model/positions.h"
#include "lib/subword/languages.h"

namespace tx {

namespace {

constexpr uint32_t binary_version = 6, transformer_revision = 7;
enum class Type : uint8_t { f32 = 0, i8 = 1, i16 = 2, i32 = 3 };  // as CTranslate2 numbers them

struct Variable {
  std::vector<uint32_t> shape;  // empty: a scalar
  Type type = Type::f32;
  uint64_t bytes = 0;
  std::function<void(Writer&)> write;
};

template <class T>
void put(Writer& out, T value) {
  char bytes[sizeof value];
  for (size_t i = 0; i < sizeof value; ++i) bytes[i] = char(uint64_t(value) >> (8 * i));
  out.write({bytes, sizeof value});
}

void put_string(Writer& out, const std::string& text) {
  put(out, uint16_t(text.size() + 1));
  out.write(text);
  out.write(std::string_view("\0", 1));
}

void put_rows(Writer& out, const WeightRows& rows, int64_t count) {
  const int64_t max = std::max<int64_t>(1, (1 << 16) / rows.cols);
  std::vector<float> values(size_t(max * rows.cols));
  for (int64_t first = 0; first < count; first += max) {
    const int64_t n = std::min(max, count - first);
    rows.read(first, n, values.data());
    out.write(
        {reinterpret_cast<const char*>(values.data()), size_t(n * rows.cols) * sizeof(float)});
  }
}

class Spec {
 public:
  Spec(const ModelReader& model, int max_positions)
      : model_(model), config_(model.config()), max_positions_(max_positions) {
    for (const ParameterEntry& e : model.table()) entries_[e.name] = &e;
    for (size_t side = 0; side < config_.sides.size(); ++side) stack(side);
    output();
  }

  void write(const std::string& path) const {
    write_atomically(path, [&](Writer& out) {
      put(out, binary_version);
      put_string(out, "TransformerSpec");
      put(out, transformer_revision);
      put(out, uint32_t(variables_.size()));
      for (const auto& [name, v] : variables_) {
        put_string(out, name);
        put(out, uint8_t(v.shape.size()));
        for (const uint32_t dim : v.shape) put(out, dim);
        put(out, uint8_t(v.type));
        put(out, uint32_t(v.bytes));
        v.write(out);
      }
      put(out, uint32_t(aliases_.size()));
      for (const auto& [name, target] : aliases_) {
        put_string(out, name);
        put_string(out, target);
      }
    });
  }

 private:
  template <class T>
  void scalar(const std::string& name, Type type, T value) {
    variables_[name] = {{}, type, sizeof value, [value](Writer& out) { put(out, value); }};
  }
  void flag(const std::string& name, bool value) { scalar(name, Type::i8, int8_t(value)); }

  // Stacks the tensors of these names by rows; one that was already written becomes an alias.
  void weights(const std::string& to, const std::vector<std::string>& names) {
    std::vector<const ParameterEntry*> parts;
    for (const std::string& name : names) {
      const auto at = entries_.find(name);
      if (at == entries_.end()) return;  // a bias that the model does not have
      parts.push_back(at->second);
    }
    const auto [first, is_new] = written_.emplace(names.front(), to);
    if (!is_new) {
      aliases_[to] = first->second;
      return;
    }
    uint64_t rows = 0;
    for (const ParameterEntry* e : parts) rows += uint64_t(e->vector ? e->cols : e->rows);
    Variable v;
    v.shape = {uint32_t(rows)};
    if (!parts[0]->vector) v.shape.push_back(uint32_t(parts[0]->cols));
    v.bytes = 4 * rows * uint64_t(parts[0]->vector ? 1 : parts[0]->cols);
    check_bytes(to, v.bytes);
    v.write = [this, parts](Writer& out) {
      for (const ParameterEntry* e : parts) {
        put_rows(out, model_.rows(*e), e->rows);
        model_.finished(*e);
      }
    };
    variables_[to] = std::move(v);
  }

  void check_bytes(const std::string& to, uint64_t bytes) const {
    if (bytes <= std::numeric_limits<uint32_t>::max()) return;
    throw DataError(model_.path() + ": " + to + " has " + std::to_string(bytes) +
                    " bytes; a variable of CTranslate2 must be smaller than 4 GiB");
  }

  void linear(const std::string& to, const std::vector<std::string>& names) {
    for (const char* part : {"weight", "bias"}) {
      std::vector<std::string> full;
      for (const std::string& name : names) full.push_back(name + "." + part);
      weights(to + "/" + part, full);
    }
  }

  void norm(const std::string& to, const std::string& name) {
    weights(to + "/gamma", {name + ".weight"});
    weights(to + "/beta", {name + ".bias"});
  }

  void stack(size_t side) {
    const std::string name = config_.stack_name(side), to = name + "/";
    scalar(to + "num_heads", Type::i16, int16_t(config_.heads));
    flag(to + "pre_norm", config_.pre_norm());
    scalar(to + "activation", Type::i8, activation());
    flag(to + "scale_embeddings", config_.scaled_embeddings);
    weights(to + (config_.is_decoder(side) ? "embeddings/weight" : "embeddings_0/weight"),
            {config_.shares_embeddings() ? "embedding.weight" : name + ".embedding.weight"});
    if (!config_.rotary()) positions(to + "position_encodings/encodings", name);
    if (config_.pre_norm()) norm(to + "layer_norm", name + ".norm");
    if (config_.is_decoder(side)) {
      scalar(to + "alignment_layer", Type::i16, int16_t(-1));
      scalar(to + "alignment_heads", Type::i16, int16_t(1));
      flag(to + "start_from_zero_embedding", false);
    } else {
      scalar(to + "embeddings_merge", Type::i8, int8_t(0));
    }
    for (int i = 0; i < config_.sides[side].layers; ++i)
      layer(to + "layer_" + std::to_string(i) + "/", name + ".layers." + std::to_string(i) + ".",
            config_.has_cross(side));
  }

  void layer(const std::string& to, const std::string& from, bool cross) {
    const std::string self = from + "self_attn.", other = from + "cross_attn.";
    linear(to + "self_attention/linear_0", {self + "q_proj", self + "k_proj", self + "v_proj"});
    linear(to + "self_attention/linear_1", {self + "out_proj"});
    norm(to + "self_attention/layer_norm", from + "self_attn_norm");
    key_heads(to + "self_attention/");
    if (config_.rotary()) {
      scalar(to + "self_attention/rotary_dim", Type::i32, int32_t(config_.d_k));
      flag(to + "self_attention/rotary_interleave", false);
      scalar(to + "self_attention/rotary_base", Type::f32,
             std::bit_cast<uint32_t>(float(config_.rotary_base)));
    }
    if (cross) {
      key_heads(to + "attention/");
      linear(to + "attention/linear_0", {other + "q_proj"});
      linear(to + "attention/linear_1", {other + "k_proj", other + "v_proj"});
      linear(to + "attention/linear_2", {other + "out_proj"});
      norm(to + "attention/layer_norm", from + "cross_attn_norm");
    }
    linear(to + "ffn/linear_0", {from + (config_.gated() ? "ffn.gate_proj" : "ffn.in_proj")});
    if (config_.gated()) linear(to + "ffn/linear_0_noact", {from + "ffn.in_proj"});
    linear(to + "ffn/linear_1", {from + "ffn.out_proj"});
    norm(to + "ffn/layer_norm", from + "ffn_norm");
  }

  void key_heads(const std::string& to) {
    if (config_.key_heads() != config_.heads)
      scalar(to + "num_heads_kv", Type::i32, int32_t(config_.key_heads()));
  }

  int8_t activation() const {
    static const std::map<Activation, int8_t> theirs = {
        {Activation::relu, 0},  {Activation::gelu_tanh, 1},    {Activation::silu, 2},
        {Activation::gelu, 3},  {Activation::gelu_sigmoid, 4}, {Activation::swiglu, 2},
        {Activation::geglu, 3}, {Activation::geglu_tanh, 1}};
    return theirs.at(config_.activation);
  }

  void positions(const std::string& to, const std::string& stack) {
    if (config_.learned_positions()) return weights(to, {stack + ".positions.weight"});
    const auto [first, is_new] = written_.emplace("sinusoids", to);
    if (!is_new) {
      aliases_[to] = first->second;
      return;
    }
    const int64_t d = config_.d_model;
    Variable v;
    v.shape = {uint32_t(max_positions_), uint32_t(d)};
    v.bytes = 4 * uint64_t(max_positions_) * uint64_t(d);
    check_bytes(to, v.bytes);
    v.write = [this, d](Writer& out) {
      put_rows(
          out,
          {max_positions_, d,
           [this, d](int64_t row, int64_t count, float* values) {
             for (const int64_t end = row + count; row < end; ++row)
               for (const double x : sinusoid(row + config_.position_offset, d, config_.positions))
                 *values++ = float(x);
           }},
          max_positions_);
    };
    variables_[to] = std::move(v);
  }

  void output() {
    if (model_.vocabularies().target().mapped())
      excluding_bias();
    else
      weights("decoder/projection/bias", {"output.bias"});
    weights("decoder/projection/weight", {config_.has_output()         ? "output.weight"
                                          : config_.tie == Tie::target ? "decoder.embedding.weight"
                                                                       : "embedding.weight"});
  }

  // The bias of a converted model. In such a model even <pad> may have a large logit, and
  // CTranslate2 has no list of tokens that are never output: their bias is far below all others.
  void excluding_bias() {
    const auto at = entries_.find("output.bias");
    const ParameterEntry* entry = at == entries_.end() ? nullptr : at->second;
    Variable v;
    v.shape = {uint32_t(config_.target().vocabulary)};
    v.bytes = 4 * uint64_t(v.shape[0]);
    v.write = [this, entry](Writer& out) {
      const Vocabulary& target = model_.vocabularies().target();
      std::vector<float> values(size_t(config_.target().vocabulary));
      if (entry != nullptr) {
        model_.rows(*entry).read(0, 1, values.data());
        model_.finished(*entry);
      }
      for (const int id : forbidden_tokens(target)) values[size_t(id)] = -1e9f;
      out.write({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
    };
    variables_["decoder/projection/bias"] = std::move(v);
  }

  const ModelReader& model_;
  const ModelConfig& config_;
  int64_t max_positions_;
  std::map<std::string, const ParameterEntry*> entries_;
  std::map<std::string, std::string> written_;  // of a tensor, the variable that holds it
  std::map<std::string, Variable> variables_;
  std::map<std::string, std::string> aliases_;
};

void check_ctranslate2_can_read(const ModelReader& model) {
  const ModelConfig& c = model.config();
  const auto refuse = [&](const std::string& why) {
    throw DataError(model.path() + " cannot be converted to CTranslate2: " + why);
  };
  if (c.kind != ModelKind::encoder_decoder) refuse("its kind is " + c.kind.name);
  if (c.decoder_memory == DecoderMemory::ssru)
    refuse("its decoder is recurrent (--decoder-memory ssru)");
  if (c.not_exported()) refuse(std::string("it was trained with ") + c.not_exported());
  if (model.has_int8())
    throw DataError(model.path() +
                    " has 8-bit weights; convert the model that it was quantised from: " +
                    "CTranslate2 quantises weights itself when it loads them");
  if (c.d_v != c.d_k || c.heads * c.d_k != c.d_model)
    refuse("d_k or d_v differs from d_model / heads (--d-k, --d-v)");
  if (c.window) refuse("it uses sliding-window attention (--window)");
  if (!c.sinusoids() && !c.rotary() && (!c.learned_positions() || c.position_offset))
    refuse("its positions are " + c.positions.name + " (--positions)");
  if (c.rotary_scaling != RotaryScaling::none)
    refuse("its rotary positions are scaled (--rotary-scaling)");
}

void write_vocabularies(OutputDirectory& directory, const Vocabularies& all) {
  for (size_t side = 0; side < all.size(); ++side) {
    const std::string name = all.shared() ? "shared" : side == 0 ? "source" : "target";
    Json tokens = Json::array();
    for (int id = 0; id < all[side].size(); ++id) tokens.push_back(all[side].token(id));
    directory.write_json(name + "_vocabulary.json", tokens);
    if (has_subword_model(all[side]))
      write_atomically(directory.file(all.shared() ? "sentencepiece.model" : name + ".spm"),
                       subword_model(all[side]));
    if (all.shared()) break;
  }
}

void write_config(OutputDirectory& directory, const ModelReader& model) {
  const Vocabulary& target = model.vocabularies().target();
  const Json config{
      {"add_source_bos", false},
      {"add_source_eos",
       model.config().source_eos && closing_tokens(model.vocabularies().source()).size() == 1},
      {"bos_token", target.token(Vocabulary::bos)},
      {"decoder_start_token", target.token(Vocabulary::bos)},
      {"eos_token", target.token(Vocabulary::eos)},
      {"layer_norm_epsilon", model.config().norm_epsilon},
      {"multi_query_attention", false},
      {"unk_token", target.token(Vocabulary::unk)}};
  directory.write_json("config.json", config);
}

}  // namespace

void write_ctranslate2(OutputDirectory& directory, const ModelReader& model, int max_positions) {
  check_ctranslate2_can_read(model);
  Spec(model, max_positions).write(directory.file("model.bin"));
  write_vocabularies(directory, model.vocabularies());
  write_config(directory, model);
}

}  // namespace tx
