// The parameter table: name, shape, initialisation, order and shards of every weight.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/model/parameters.h"

namespace tx {

namespace {

using Init = ParameterEntry::Init;

class TableBuilder {
 public:
  TableBuilder(const ModelConfig& c, bool sharded)
      : c_(c),
        sharded_(sharded),
        queries_(int64_t(c.heads) * c.d_k),
        keys_(int64_t(c.key_heads()) * c.d_k),
        values_(int64_t(c.key_heads()) * c.d_v),
        mixed_(int64_t(c.heads) * c.d_v) {}

  std::vector<ParameterEntry> build() {
    embeddings();
    for (size_t side = 0; side < c_.sides.size(); ++side)
      for (int i = 0; i < c_.sides[side].layers; ++i) layer_matrices(side, i);
    for (size_t side = 0; side < c_.sides.size(); ++side) cross_keys_values(side, ".weight");
    for (size_t side = 0; side < c_.sides.size(); ++side)
      for (int i = 0; i < c_.sides[side].layers; ++i) layer_vectors(side, i);
    for (size_t side = 0; c_.attention_bias && side < c_.sides.size(); ++side)
      cross_keys_values(side, ".bias");
    for (size_t side = 0; c_.relative() && side < c_.sides.size(); ++side)
      if (c_.self_attends(side))
        vector(stack(side) + "distances.weight", int64_t(c_.heads) * c_.distance_buckets,
               Init::zeros);
    for (size_t side = 0; c_.embedding_norm && side < c_.sides.size(); ++side)
      norm(stack(side) + "embedding_norm");
    if (c_.output_layer) {
      vector("output_layer.bias", c_.d_model, Init::zeros);
      norm("output_layer_norm");
    }
    for (size_t side = 0; c_.has_final_norm() && side < c_.sides.size(); ++side)
      norm(stack(side) + "norm");
    if (c_.output_bias) {
      vector("output.bias", c_.target().vocabulary, Init::zeros);
      table_.back().padded_cols = padded_vocabulary(c_.target().vocabulary);
      table_.back().split = Split::outputs;
      table_.back().tokens = target();
    }
    place();
    return std::move(table_);
  }

 private:
  int target() const { return int(c_.sides.size()) - 1; }
  void matrix(const std::string& name, int64_t rows, int64_t cols, Init init = Init::xavier,
              bool joined = false, int tokens = -1) {
    ParameterEntry e;
    e.name = name;
    e.rows = rows;
    e.cols = e.padded_cols = cols;
    e.init = init;
    e.tokens = tokens;
    e.padded_rows = tokens >= 0 ? padded_vocabulary(rows) : rows;
    if (tokens >= 0) e.split = Split::outputs;
    e.joined = joined;
    e.multiplied = true;
    table_.push_back(e);
  }
  void vector(const std::string& name, int64_t size, Init init, bool joined = false) {
    matrix(name, 1, size, init, joined);
    table_.back().vector = true;
    table_.back().multiplied = false;
  }
  // Its outputs are heads or inner features, which tensor-parallel ranks divide.
  void inner_matrix(const std::string& name, int64_t rows, bool joined = false) {
    matrix(name, rows, c_.d_model, Init::xavier, joined);
    table_.back().split = Split::outputs;
  }
  void inner_vector(const std::string& name, int64_t size, bool joined = false) {
    vector(name, size, Init::zeros, joined);
    table_.back().split = Split::outputs;
  }
  void norm(const std::string& name) {
    if (c_.norm_type == NormType::none) return;
    vector(name + ".weight", c_.d_model, Init::ones);
    if (c_.norm_type == NormType::layer) vector(name + ".bias", c_.d_model, Init::zeros);
  }
  // The output projection of a sub-layer.
  void end(const std::string& name, int64_t cols, size_t side) {
    matrix(name, c_.d_model, cols);
    table_.back().split = Split::inputs;
    if (c_.scaled_init) table_.back().init_scale = 1 / std::sqrt(double(c_.sub_layers(side)));
  }

  std::string stack(size_t side) const { return c_.stack_name(side) + std::string("."); }

  void embeddings() {
    const int64_t d = c_.d_model;
    if (c_.shares_embeddings()) {
      matrix("embedding.weight", c_.target().vocabulary, d, Init::embedding, false, target());
      table_.back().multiplied = c_.tie == Tie::all;  // the output
    }
    for (size_t side = 0; !c_.shares_embeddings() && side < c_.sides.size(); ++side) {
      matrix(stack(side) + "embedding.weight", c_.sides[side].vocabulary, d, Init::embedding, false,
             int(side));
      table_.back().multiplied = c_.is_predicted(side) && c_.tie == Tie::target;  // the output
    }
    if (c_.output_layer) matrix("output_layer.weight", d, d);
    if (c_.has_output())
      matrix("output.weight", c_.target().vocabulary, d, Init::xavier, false, target());
    for (size_t side = 0; c_.learned_positions() && side < c_.sides.size(); ++side) {
      matrix(stack(side) + "positions.weight", c_.max_positions, d, Init::embedding);
      table_.back().lookup = true;
      table_.back().multiplied = false;
    }
  }

  void layer_matrices(size_t side, int i) {
    const std::string layer = stack(side) + "layers." + std::to_string(i) + ".";
    if (c_.recurrent(side)) {
      matrix(layer + "recurrence.in_proj.weight", c_.d_model, c_.d_model);
      matrix(layer + "recurrence.gate_proj.weight", c_.d_model, c_.d_model, Init::xavier, true);
    }
    if (c_.self_attends(side)) {
      inner_matrix(layer + "self_attn.q_proj.weight", queries_);
      inner_matrix(layer + "self_attn.k_proj.weight", keys_, true);
      inner_matrix(layer + "self_attn.v_proj.weight", values_, true);
      end(layer + "self_attn.out_proj.weight", mixed_, side);
    }
    if (c_.has_cross(side)) {
      inner_matrix(layer + "cross_attn.q_proj.weight", queries_);
      end(layer + "cross_attn.out_proj.weight", mixed_, side);
    }
    if (c_.d_ff == 0) return;
    if (c_.gated()) inner_matrix(layer + "ffn.gate_proj.weight", c_.d_ff);
    inner_matrix(layer + "ffn.in_proj.weight", c_.d_ff, c_.gated());
    end(layer + "ffn.out_proj.weight", c_.d_ff, side);
  }

  void layer_vectors(size_t side, int i) {
    const std::string layer = stack(side) + "layers." + std::to_string(i) + ".";
    if (c_.recurrent(side)) vector(layer + "recurrence.gate_proj.bias", c_.d_model, Init::zeros);
    if (c_.attention_bias && c_.self_attends(side)) {
      inner_vector(layer + "self_attn.q_proj.bias", queries_);
      inner_vector(layer + "self_attn.k_proj.bias", keys_, true);
      inner_vector(layer + "self_attn.v_proj.bias", values_, true);
      if (c_.attention_output_bias)
        vector(layer + "self_attn.out_proj.bias", c_.d_model, Init::zeros);
    }
    if (c_.head_norm && c_.self_attends(side)) {
      vector(layer + "self_attn.q_norm.weight", c_.d_k, Init::ones);
      vector(layer + "self_attn.k_norm.weight", c_.d_k, Init::ones, true);
    }
    if (c_.attention_bias && c_.has_cross(side)) {
      inner_vector(layer + "cross_attn.q_proj.bias", queries_);
      if (c_.attention_output_bias)
        vector(layer + "cross_attn.out_proj.bias", c_.d_model, Init::zeros);
    }
    if (c_.recurrent(side)) norm(layer + "recurrence_norm");
    if (c_.self_attends(side)) norm(layer + "self_attn_norm");
    if (c_.has_cross(side)) norm(layer + "cross_attn_norm");
    if (c_.d_ff == 0) return;
    if (c_.feed_forward_bias) {
      if (c_.gated()) inner_vector(layer + "ffn.gate_proj.bias", c_.d_ff);
      inner_vector(layer + "ffn.in_proj.bias", c_.d_ff, c_.gated());
      vector(layer + "ffn.out_proj.bias", c_.d_model, Init::zeros);
    }
    norm(layer + "ffn_norm");
  }

  // Keys and values from the encoder's output for all layers of the decoder, as one product.
  void cross_keys_values(size_t side, const std::string& kind) {
    for (int i = 0; c_.has_cross(side) && i < c_.sides[side].layers; ++i) {
      const std::string layer = stack(side) + "layers." + std::to_string(i) + ".cross_attn.";
      if (kind == ".weight") {
        inner_matrix(layer + "k_proj.weight", keys_, i > 0);
        inner_matrix(layer + "v_proj.weight", values_, true);
      } else {
        inner_vector(layer + "k_proj.bias", keys_, i > 0);
        inner_vector(layer + "v_proj.bias", values_, true);
      }
    }
  }

  void place() {
    if (!sharded_) return place([](const ParameterEntry&) { return true; });
    using E = ParameterEntry;
    place([](const E& e) { return !e.vector && e.split != Split::none; });
    begin_block();
    place([](const E& e) { return !e.vector && e.split == Split::none; });
    place([](const E& e) { return e.vector && e.split == Split::none; });
    begin_block();
    place([](const E& e) { return e.vector && e.split != Split::none; });
  }
  template <class Which>
  void place(const Which& which) {
    for (ParameterEntry& e : table_) {
      if (!which(e)) continue;
      if (!e.joined) offset_ = (offset_ + 15) / 16 * 16;
      e.offset = offset_;
      offset_ += e.padded_rows * e.padded_cols;
    }
  }
  void begin_block() { offset_ = norm_blocks(offset_) * norm_block; }

  const ModelConfig& c_;
  bool sharded_;
  int64_t offset_ = 0;
  int64_t queries_, keys_, values_, mixed_;  // mixed: the concatenated heads
  std::vector<ParameterEntry> table_;
};

}  // namespace

std::vector<ParameterEntry> parameter_table(const ModelConfig& config, bool sharded) {
  return TableBuilder(config, sharded).build();
}

ElementRange replicated_blocks(const std::vector<ParameterEntry>& table) {
  int64_t begin = std::numeric_limits<int64_t>::max(), end = 0;
  for (const ParameterEntry& e : table) {
    if (e.split != Split::none) continue;
    begin = std::min(begin, e.offset);
    end = std::max(end, e.offset + e.padded_rows * e.padded_cols);
  }
  if (end == 0) return {};  // no norms and no biases
  TX_ASSERT(begin % norm_block == 0);
  return {begin / norm_block, norm_blocks(end) - begin / norm_block};
}

int64_t parameter_count(const ModelConfig& config) {
  int64_t count = 0;
  for (const ParameterEntry& e : parameter_table(config)) count += e.rows * e.cols;
  return count;
}

}  // namespace tx
