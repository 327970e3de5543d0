#include "lib/model/transformer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tx {

namespace {

// In a pre-norm stack each sub-layer ends with the next one's norm: shifts them, returns the first.
Norm shift_norms(std::vector<Layer>& layers, const Norm& last) {
  std::vector<Norm*> norms;
  for (Layer& layer : layers) {
    if (layer.self) norms.push_back(&layer.self->end.norm);
    if (layer.recurrence) norms.push_back(&layer.recurrence->end.norm);
    if (layer.cross) norms.push_back(&layer.cross->end.norm);
    if (layer.feed_forward) norms.push_back(&layer.feed_forward->end.norm);
  }
  const Norm first = *norms.front();
  for (size_t i = 0; i + 1 < norms.size(); ++i) *norms[i] = *norms[i + 1];
  *norms.back() = last;
  return first;
}

}  // namespace

Stack::Stack(Parameters& p, size_t side, Parameter embedding, Matrix sinusoids, Matrix angles)
    : number_(uint32_t(side)),
      scale_(p.config().scaled_embeddings ? std::sqrt(double(p.config().d_model)) : 1),
      embedding_(std::move(embedding)),
      start_{uint32_t(p.shard().of(p.whole().heads).first), p.shard().of(p.whole().d_ff).first},
      positions_(sinusoids) {
  const std::string name = p.config().stack_name(side);
  if (p.config().recurrent(side) && p.shard().index == 0) blank_ = ModelConfig::bos;
  if (p.config().learned_positions()) {
    learned_positions_ = p.get(name + ".positions.weight");
    const int offset = p.config().position_offset;
    for (Matrix* m : {&learned_positions_.value, &learned_positions_.gradient})
      if (!m->empty()) *m = m->slice(offset, m->rows - offset);
    positions_ = learned_positions_.value;
  }
  if (p.config().relative() && p.config().self_attends(side))
    biases_ = p.get(name + ".distances.weight");
  for (int i = 0; i < p.config().sides[side].layers; ++i)
    layers_.push_back(find_layer(p, side, i, angles));
  embedding_norm_ = find_norm(p, name + ".embedding_norm");
  final_norm_ = find_norm(p, name + ".norm");
  if (p.config().pre_norm()) first_norm_ = shift_norms(layers_, std::exchange(final_norm_, {}));
}

Tensor Stack::embed_rows(Context& context, const PackedSide& side,
                         const DropoutMasks& masks) const {
  EmbedInput e;
  e.ids = side.ids;
  e.by_id = side.by_id;
  e.cut = side.cut;
  e.rows = side.rows;
  e.table = embedding_;
  e.scale = scale_;
  e.blank = blank_;
  e.positions = positions_;
  e.learned = learned_positions_;
  const Dropout drop = masks.at(DropoutPlace::on_embedding);
  e.drop = drop;
  if (!embedding_norm_.gamma) return embed(context, e);
  e.drop.threshold = 0;  // the dropout follows the norm
  return add_norm(context, {}, layer_norm(context, embed(context, e), embedding_norm_), drop, {})
      .sum;
}

Tensor Stack::run(Context& context, const PackedSide& side, std::shared_ptr<const KeysValues> kv,
                  const DropoutRates& rates) const {
  const DropoutMasks masks(rates, number_, side.keys, start_);
  Tensor x = embed_rows(context, side, masks);
  std::vector<Tensor> stream{x, first_norm_ ? layer_norm(context, x, *first_norm_) : x};
  x = Tensor();
  for (size_t i = 0; i < layers_.size(); ++i)
    stream = context.segment(
        std::move(stream), [this, i, kv, masks, &context](const std::vector<Tensor>& in) {
          const Stream out = layers_[i](context, {in[0], in[1]}, int(i), *kv, masks);
          return std::vector<Tensor>{out.residual, out.normed};
        });
  return final_norm_.gamma ? layer_norm(context, stream[1], final_norm_) : stream[1];
}

// The tables of all kinds of positions except learned ones, which are parameters.
void Transformer::make_positions(Backend& backend, const Parameters& p) {
  const ModelConfig& c = config_;
  const DType full = p.dtype() == DType::f64 ? DType::f64 : DType::f32;
  if (c.sinusoids() && !p.planned()) {
    const std::vector<SinusoidPair> pairs = sinusoid_pairs(c.d_model, c.positions);
    sinusoids_ = std::make_shared<PositionTable>(
        backend, longest_, c.d_model, full,
        [&](int64_t i) { return sinusoid(i + c.position_offset, pairs); });
  }
  if (c.rotary()) {
    const std::vector<double> frequencies = rotary_frequencies(c);
    angles_ = std::make_shared<PositionTable>(
        backend, longest_, c.d_k, full, [&](int64_t i) { return rotary_row(frequencies, i); });
  }
  for (const bool decoder : {false, true})
    if (c.relative())
      buckets_[decoder] = std::make_shared<PositionTable>(
          backend, distance_buckets(c.distance_buckets, c.distance_reach, !decoder));
  if (c.positions != PositionEncoding::alibi) return;
  const int heads = p.whole().heads;
  slopes_ = std::make_shared<PositionTable>(backend, 1, heads, DType::f64,
                                            [&](int64_t) { return alibi_slopes(heads); });
  shape_.slopes = slopes_->table().row<double>(0) + p.shard().of(heads).first;
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
    stacks_.emplace_back(p, side, p.get(embedding_name(name) + ".weight"), sinusoids, angles);
  }
  const size_t last = config_.sides.size() - 1;
  const std::string name = config_.stack_name(last);
  output_ = find_projection(p, config_.has_output() ? "output" : embedding_name(name), false);
  if (config_.output_bias) output_.bias = p.get("output.bias");
  if (config_.output_layer) output_layer_ = find_projection(p, "output_layer", true);
  output_norm_ = find_norm(p, "output_layer_norm");
  if (!config_.has_cross(last)) return;
  cross_ = find_projection(p, name + ".layers.0.cross_attn.k_proj", config_.attention_bias,
                           2 * config_.target().layers);
}

AttentionShape Transformer::shape_of(size_t side) const {
  AttentionShape shape = shape_;
  const bool decoder = config_.is_decoder(side);
  shape.causal = shape.causal && decoder;
  if (const Parameter& biases = stacks_[side].biases())
    shape.distances = {biases.value.data, buckets_[decoder]->buckets(), config_.distance_buckets,
                       config_.distance_reach};
  return shape;
}

Tensor Transformer::cross_keys_values(Context& context, Tensor encoded) const {
  return cross_(context, std::move(encoded));
}

Tensor Transformer::decode(Context& context, const PackedSide& target,
                           std::shared_ptr<const KeysValues> kv, const DropoutRates& rates) const {
  return stacks_.back().run(context, target, std::move(kv), rates);
}

Tensor Transformer::logits(Context& context, Tensor hidden) const {
  if (output_layer_.weight)
    hidden = layer_norm(context,
                        linear_activation(context, hidden, output_layer_.weight, output_layer_.bias,
                                          config_.activation, {}),
                        output_norm_);
  return output_(context, std::move(hidden));
}

Tensor Transformer::hidden(Context& context, std::span<const PackedSide> sides,
                           const DropoutRates& rates, const AttentionProbe& probe,
                           const CrossGuide& guide) const {
  TX_ASSERT(!sides.empty() && sides.size() <= stacks_.size());
  Tensor out;
  for (size_t i = 0; i < sides.size(); ++i) {
    const auto kv = std::make_shared<PackedKeysValues>(
        shape_of(i), sides[i], config_.is_decoder(i) ? "decoder" : "encoder", probe);
    kv->learn(stacks_[i].biases());
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
