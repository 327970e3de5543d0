#include "lib/model/transformer.h"

#include <algorithm>

namespace tx {

// What positions of every kind but learned ones need.
void Transformer::make_positions(Backend& backend, const Parameters& p) {
  const ModelConfig& c = config_;
  const DType full = p.dtype() == DType::f64 ? DType::f64 : DType::f32;
  if (c.sinusoids() && !p.planned())
    sinusoids_ = std::make_shared<PositionTable>(
        backend, longest_, c.d_model, full,
        [&](int64_t i) { return sinusoid(i + c.position_offset, c.d_model, c.positions); });
  if (c.rotary()) {
    const std::vector<double> frequencies = rotary_frequencies(c);
    angles_ = std::make_shared<PositionTable>(
        backend, longest_, c.d_k, full, [&](int64_t i) { return rotary_row(frequencies, i); });
  }
  if (c.positions != PositionEncoding::alibi) return;
  const int heads = p.whole().heads;
  slopes_ = std::make_shared<PositionTable>(backend, 1, heads, DType::f64,
                                            [&](int64_t) { return alibi_slopes(heads); });
  shape_.slopes = slopes_->table().row<double>(0) + p.part().of(heads).first;
}

Transformer::Transformer(Backend& backend, Parameters& p, int64_t longest)
    : config_(p.config()),
      shape_{.heads = config_.heads,
             .kv_heads = config_.key_heads(),
             .d_k = config_.d_k,
             .d_v = config_.d_v,
             .scale = config_.attention_scale(),
             .causal = config_.causal_mask,
             .window = config_.window},
      longest_(config_.learned_positions()
                   ? std::min<int64_t>(longest, config_.max_positions - config_.position_offset)
                   : longest),
      cache_dtype_(p.cache_dtype()) {
  make_positions(backend, p);
  const Matrix sinusoids = sinusoids_ ? sinusoids_->table() : Matrix{};
  const Matrix angles = angles_ ? angles_->table() : Matrix{};
  const auto embedding_name = [&](const std::string& stack) {
    return config_.shares_embeddings() ? "embedding" : stack + ".embedding";
  };
  for (size_t side = 0; side < config_.sides.size(); ++side) {
    const std::string name = config_.stack_name(side);
    stacks_.emplace_back(
        p,
        Stack::Settings{name, uint32_t(side), config_.sides[side].layers, config_.has_cross(side),
                        p.get(embedding_name(name) + ".weight"), sinusoids, angles});
  }
  const size_t last = config_.sides.size() - 1;
  const std::string name = config_.stack_name(last);
  output_ = find_projection(p, config_.has_output() ? "output" : embedding_name(name), false);
  if (config_.output_bias) output_.bias = p.get("output.bias");
  if (!config_.has_cross(last)) return;
  cross_ = find_projection(p, name + ".layers.0.cross_attn.k_proj", config_.attention_bias,
                           2 * config_.target().layers);
}

Tensor Transformer::cross_keys_values(Context& context, Tensor encoded) const {
  return cross_(context, std::move(encoded));
}

Tensor Transformer::decode(Context& context, const PackedSide& target,
                           std::shared_ptr<const KeysValues> kv, const DropoutRates& rates) const {
  return stacks_.back().run(context, target, std::move(kv), rates);
}

Tensor Transformer::logits(Context& context, Tensor hidden) const {
  return output_(context, std::move(hidden));
}

Tensor Transformer::hidden(Context& context, std::span<const PackedSide> sides,
                           const DropoutRates& rates, const AttentionProbe& probe,
                           const CrossGuide& guide) const {
  TX_ASSERT(!sides.empty() && sides.size() <= stacks_.size());
  Tensor out;
  for (size_t i = 0; i < sides.size(); ++i) {
    AttentionShape shape = shape_;
    shape.causal = shape.causal && config_.is_decoder(i);
    const auto kv = std::make_shared<PackedKeysValues>(
        shape, sides[i], config_.is_decoder(i) ? "decoder" : "encoder", probe);
    if (config_.has_cross(i))
      kv->attend_to(cross_keys_values(context, std::move(out)), sides[i - 1]);
    if (i + 1 == stacks_.size()) kv->train_to(guide);
    out = stacks_[i].run(context, sides[i], kv, rates);
  }
  return out;
}

Tensor Transformer::forward(Context& context, std::span<const PackedSide> sides,
                            const DropoutRates& rates, const AttentionProbe& probe,
                            const CrossGuide& guide) const {
  TX_ASSERT(sides.size() == stacks_.size());
  return logits(context, hidden(context, sides, rates, probe, guide));
}

}  // namespace tx
