// Finds the weights of each sub-layer in the parameter table; sinusoids.
#include <algorithm>
#include <cmath>

#include "lib/model/transformer.h"

namespace tx {

std::vector<double> sinusoid(int64_t position, int64_t d_model) {
  std::vector<double> row(static_cast<size_t>(d_model));
  for (int64_t i = 0; i < d_model; i += 2) {
    const double angle = double(position) / std::pow(10000.0, double(i) / double(d_model));
    row[size_t(i)] = std::sin(angle);
    if (i + 1 < d_model) row[size_t(i + 1)] = std::cos(angle);
  }
  return row;
}

Sinusoids::Sinusoids(Backend& backend, int64_t d_model, DType dtype)
    : backend_(backend), d_model_(d_model), dtype_(dtype) {}

Sinusoids::~Sinusoids() {
  on(backend_, [&](auto& k) { k.release(table_.data); });
}

Matrix Sinusoids::at_least(int64_t length) {
  if (table_.rows >= length) return table_;
  std::vector<double> rows;
  rows.reserve(size_t(length * d_model_));
  for (int64_t position = 0; position < length; ++position)
    for (double x : sinusoid(position, d_model_)) rows.push_back(x);
  const size_t bytes = rows.size() * size_of(dtype_);
  on(backend_, [&](auto& k) {
    k.release(table_.data);
    table_ = {};  // allocate() may throw
    table_ = matrix(k.allocate(bytes), dtype_, length, d_model_);
    if (dtype_ == DType::f64) {
      k.upload(table_.data, rows.data(), bytes);
    } else {
      const std::vector<float> narrow(rows.begin(), rows.end());
      k.upload(table_.data, narrow.data(), bytes);
    }
  });
  return table_;
}

Transformer::Transformer(Backend& backend, Parameters& p, int64_t longest)
    : config_(p.config()), longest_(longest) {
  const DType full = p.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const bool shared = config_.tie == "all";
  source_embedding_ = p.get(shared ? "embedding.weight" : "encoder.embedding.weight");
  target_embedding_ = p.get(shared ? "embedding.weight" : "decoder.embedding.weight");
  output_ = config_.tie == "none" ? p.get("output.weight") : target_embedding_;
  if (config_.learned_positions()) {
    source_positions_ = p.get("encoder.positions.weight");
    target_positions_ = p.get("decoder.positions.weight");
    longest_ = std::min<int64_t>(longest, config_.max_positions);
  } else {
    sinusoids_ = std::make_shared<Sinusoids>(backend, config_.d_model, full);
    sinusoid_table_ = sinusoids_->at_least(longest);
  }
  const std::string cross = "decoder.layers.0.cross_attn.k_proj";
  memory_ = p.get(cross + ".weight", 2 * config_.decoder_layers);
  if (config_.attention_bias) memory_bias_ = p.get(cross + ".bias", 2 * config_.decoder_layers);
  for (int i = 0; i < config_.encoder_layers; ++i)
    encoder_.push_back(layer(p, "encoder.layers." + std::to_string(i), false));
  for (int i = 0; i < config_.decoder_layers; ++i)
    decoder_.push_back(layer(p, "decoder.layers." + std::to_string(i), true));
  const auto norm = [&](const std::string& name) {
    return Norm{p.get(name + ".weight"), p.get(name + ".bias"), config_.norm_epsilon};
  };
  for (const Layer& l : encoder_)
    encoder_norms_.insert(encoder_norms_.end(), {l.self_norm, l.ffn_norm});
  for (const Layer& l : decoder_)
    decoder_norms_.insert(decoder_norms_.end(), {l.self_norm, l.cross_norm, l.ffn_norm});
  if (config_.pre_norm()) {
    encoder_norms_.push_back(norm("encoder.norm"));
    decoder_norms_.push_back(norm("decoder.norm"));
  }
}

Transformer::Layer Transformer::layer(Parameters& p, const std::string& name, bool decoder) const {
  const auto attention = [&](const std::string& kind, int joined) {
    const std::string base = name + "." + kind;
    AttentionWeights w{
        p.get(base + ".q_proj.weight", joined), {}, p.get(base + ".out_proj.weight"), {}};
    if (config_.attention_bias) {
      w.in_bias = p.get(base + ".q_proj.bias", joined);
      w.out_bias = p.get(base + ".out_proj.bias");
    }
    return w;
  };
  const auto norm = [&](const std::string& kind) {
    const std::string base = name + "." + kind + "_norm";
    return Norm{p.get(base + ".weight"), p.get(base + ".bias"), config_.norm_epsilon};
  };
  Layer l;
  l.self = attention("self_attn", 3);
  l.self_norm = norm("self_attn");
  if (decoder) {
    l.cross = attention("cross_attn", 1);
    l.cross_norm = norm("cross_attn");
  }
  const std::string ffn = name + ".ffn.";
  l.ffn = {p.get(ffn + "in_proj.weight"), p.get(ffn + "in_proj.bias"),
           p.get(ffn + "out_proj.weight"), p.get(ffn + "out_proj.bias")};
  l.ffn_norm = norm("ffn");
  return l;
}

}  // namespace tx
