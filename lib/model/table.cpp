// The parameter table: name, shape, initialisation and order of every weight.
#include "lib/model/parameters.h"

namespace tx {

namespace {

using Init = ParameterEntry::Init;

class TableBuilder {
 public:
  explicit TableBuilder(const ModelConfig& c)
      : c_(c), keys_(int64_t(c.heads) * c.d_k), values_(int64_t(c.heads) * c.d_v) {}

  std::vector<ParameterEntry> build() {
    embeddings();
    for (int i = 0; i < c_.encoder_layers; ++i) layer_matrices("encoder", i, false);
    for (int i = 0; i < c_.decoder_layers; ++i) layer_matrices("decoder", i, true);
    for (int i = 0; i < c_.decoder_layers; ++i) cross_memory(i, i > 0, ".weight");
    for (int i = 0; i < c_.encoder_layers; ++i) layer_vectors("encoder", i, false);
    for (int i = 0; i < c_.decoder_layers; ++i) layer_vectors("decoder", i, true);
    for (int i = 0; c_.attention_bias && i < c_.decoder_layers; ++i)
      cross_memory(i, i > 0, ".bias");
    if (c_.pre_norm()) norm("encoder.norm");
    if (c_.pre_norm()) norm("decoder.norm");
    place();
    return std::move(table_);
  }

 private:
  void matrix(const std::string& name, int64_t rows, int64_t cols, Init init = Init::xavier,
              bool joined = false, bool vocabulary = false) {
    ParameterEntry e;
    e.name = name;
    e.rows = rows;
    e.cols = cols;
    e.init = init;
    e.padded_rows = vocabulary ? padded_vocabulary(rows) : rows;
    e.joined = joined;
    table_.push_back(e);
  }
  void vector(const std::string& name, int64_t size, Init init, bool joined = false) {
    matrix(name, 1, size, init, joined);
    table_.back().vector = true;
  }
  void norm(const std::string& name) {
    vector(name + ".weight", c_.d_model, Init::ones);
    vector(name + ".bias", c_.d_model, Init::zeros);
  }

  void embeddings() {
    const int64_t d = c_.d_model;
    if (c_.tie == "all") {
      matrix("embedding.weight", c_.target_vocabulary, d, Init::embedding, false, true);
    } else {
      matrix("encoder.embedding.weight", c_.source_vocabulary, d, Init::embedding, false, true);
      matrix("decoder.embedding.weight", c_.target_vocabulary, d, Init::embedding, false, true);
    }
    if (c_.tie == "none")
      matrix("output.weight", c_.target_vocabulary, d, Init::xavier, false, true);
    if (c_.learned_positions()) {
      matrix("encoder.positions.weight", c_.max_positions, d, Init::embedding);
      matrix("decoder.positions.weight", c_.max_positions, d, Init::embedding);
      for (size_t i = table_.size() - 2; i < table_.size(); ++i) table_[i].lookup = true;
    }
  }

  void layer_matrices(const std::string& stack, int i, bool decoder) {
    const std::string layer = stack + ".layers." + std::to_string(i) + ".";
    const int64_t d = c_.d_model;
    matrix(layer + "self_attn.q_proj.weight", keys_, d);
    matrix(layer + "self_attn.k_proj.weight", keys_, d, Init::xavier, true);
    matrix(layer + "self_attn.v_proj.weight", values_, d, Init::xavier, true);
    matrix(layer + "self_attn.out_proj.weight", d, values_);
    if (decoder) {
      matrix(layer + "cross_attn.q_proj.weight", keys_, d);
      matrix(layer + "cross_attn.out_proj.weight", d, values_);
    }
    matrix(layer + "ffn.in_proj.weight", c_.d_ff, d);
    matrix(layer + "ffn.out_proj.weight", d, c_.d_ff);
  }

  void layer_vectors(const std::string& stack, int i, bool decoder) {
    const std::string layer = stack + ".layers." + std::to_string(i) + ".";
    if (c_.attention_bias) {
      vector(layer + "self_attn.q_proj.bias", keys_, Init::zeros);
      vector(layer + "self_attn.k_proj.bias", keys_, Init::zeros, true);
      vector(layer + "self_attn.v_proj.bias", values_, Init::zeros, true);
      vector(layer + "self_attn.out_proj.bias", c_.d_model, Init::zeros);
      if (decoder) {
        vector(layer + "cross_attn.q_proj.bias", keys_, Init::zeros);
        vector(layer + "cross_attn.out_proj.bias", c_.d_model, Init::zeros);
      }
    }
    norm(layer + "self_attn_norm");
    if (decoder) norm(layer + "cross_attn_norm");
    vector(layer + "ffn.in_proj.bias", c_.d_ff, Init::zeros);
    vector(layer + "ffn.out_proj.bias", c_.d_model, Init::zeros);
    norm(layer + "ffn_norm");
  }

  // Keys and values of the encoder's output for all decoder layers: one product.
  void cross_memory(int i, bool joined, const std::string& kind) {
    const std::string layer = "decoder.layers." + std::to_string(i) + ".cross_attn.";
    if (kind == ".weight") {
      matrix(layer + "k_proj.weight", keys_, c_.d_model, Init::xavier, joined);
      matrix(layer + "v_proj.weight", values_, c_.d_model, Init::xavier, true);
    } else {
      vector(layer + "k_proj.bias", keys_, Init::zeros, joined);
      vector(layer + "v_proj.bias", values_, Init::zeros, true);
    }
  }

  void place() {
    int64_t offset = 0;
    for (ParameterEntry& e : table_) {
      if (!e.joined) offset = (offset + 15) / 16 * 16;
      e.offset = offset;
      offset += e.padded_rows * e.cols;
    }
  }

  const ModelConfig& c_;
  int64_t keys_, values_;
  std::vector<ParameterEntry> table_;
};

}  // namespace

std::vector<ParameterEntry> parameter_table(const ModelConfig& config) {
  return TableBuilder(config).build();
}

int64_t parameter_count(const ModelConfig& config) {
  int64_t count = 0;
  for (const ParameterEntry& e : parameter_table(config)) count += e.rows * e.cols;
  return count;
}

}  // namespace tx
