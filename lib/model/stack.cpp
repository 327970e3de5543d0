#include "lib/model/stack.h"

#include <cmath>

namespace tx {

namespace {

// A pre-norm sub-layer reads the norm of the sum before it, so each sub-layer ends with the norm of
// the next, the last with the stack's own. Returns the first, which the embedding goes through.
Norm shift_norms(std::vector<Layer>& layers, const Norm& last) {
  std::vector<Norm*> norms;
  for (Layer& layer : layers) {
    norms.push_back(&layer.self.end.norm);
    if (layer.cross) norms.push_back(&layer.cross->end.norm);
    norms.push_back(&layer.feed_forward.end.norm);
  }
  const Norm first = *norms.front();
  for (size_t i = 0; i + 1 < norms.size(); ++i) *norms[i] = *norms[i + 1];
  *norms.back() = last;
  return first;
}

}  // namespace

Stack::Stack(Parameters& p, const Settings& settings)
    : number_(settings.number),
      scale_(p.config().scaled_embeddings ? std::sqrt(double(p.config().d_model)) : 1),
      embedding_(settings.embedding),
      start_{uint32_t(p.part().of(p.whole().heads).first), p.part().of(p.whole().d_ff).first},
      positions_(settings.sinusoids) {
  if (p.config().learned_positions()) {
    learned_positions_ = p.get(settings.name + ".positions.weight");
    const int offset = p.config().position_offset;
    for (Matrix* m : {&learned_positions_.value, &learned_positions_.gradient})
      if (!m->empty()) *m = m->slice(offset, m->rows - offset);
    positions_ = learned_positions_.value;
  }
  for (int i = 0; i < settings.layers; ++i)
    layers_.push_back(find_layer(p, settings.name + ".layers." + std::to_string(i), settings.cross,
                                 settings.angles));
  if (p.config().pre_norm())
    first_norm_ = shift_norms(layers_, find_norm(p, settings.name + ".norm"));
}

Tensor Stack::embed_rows(Context& context, const PackedSide& side,
                         const DropoutMasks& masks) const {
  EmbedInput e;
  e.ids = side.ids;
  e.by_id = side.by_id;
  e.rows = side.rows;
  e.table = embedding_;
  e.scale = scale_;
  e.positions = positions_;
  e.learned = learned_positions_;
  e.drop = masks.at(DropoutPlace::on_embedding);
  return embed(context, e);
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
  return stream[1];
}

}  // namespace tx
