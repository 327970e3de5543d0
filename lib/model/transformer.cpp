#include "lib/model/transformer.h"

#include <cmath>

namespace tx {

namespace {

// Dropout sites: a fixed number for each place in the model (view.h, Dropout).
enum Role : uint32_t { on_embedding, on_self, on_cross, on_ffn, in_self, in_cross, in_ffn };
uint32_t site(bool decoder, size_t layer, Role role) {
  return uint32_t(decoder) << 15 | uint32_t(layer) << 4 | role;
}

Dropout mask(double p, const Regularisation& r, uint32_t site, const PackedSide& side) {
  return dropout(p, r.seed, site, r.record, side.keys);
}

// The residual stream, what one layer hands to the next: post-norm carries one tensor, pre-norm the
// sum and its norm.
enum { residual, normed };

std::vector<Tensor> begin(Context& context, Tensor x, const ModelConfig& c, const Norm& first) {
  if (!c.pre_norm()) return {x, x};
  return {x, layer_norm(context, x, first)};
}

std::vector<Tensor> end_sublayer(Context& context, const std::vector<Tensor>& x, Tensor sub,
                                 const Dropout& drop, const ModelConfig& c, const Norm& norm) {
  const Normed out = add_norm(context, x[residual], sub, drop, norm);
  return {c.pre_norm() ? out.sum : out.normed, out.normed};
}

// Self-attention: q, k and v come from one product.
AttentionInput self_input(Tensor qkv, const PackedSide& side, const ModelConfig& c, bool causal) {
  AttentionInput a;
  a.q = a.k = a.v = qkv;
  a.k_column = int64_t(c.heads) * c.d_k;
  a.v_column = 2 * a.k_column;
  a.q_offsets = a.k_offsets = side.offsets;
  a.sentences = side.sentences;
  a.heads = c.heads;
  a.d_k = c.d_k;
  a.d_v = c.d_v;
  a.causal = causal;
  return a;
}

}  // namespace

Tensor Transformer::encode(Context& context, const PackedSide& source, const Regularisation& masks,
                           const AttentionProbe& probe) const {
  std::vector<Tensor> x =
      begin(context, embed(context, embedding(false, source, masks)), config_, first_norm(false));
  for (size_t i = 0; i < encoder_.size(); ++i)
    x = context.segment(std::move(x), [=, this, &context](const std::vector<Tensor>& in) {
      return encoder_layer(context, i, in, source, masks, probe);
    });
  return x[normed];
}

std::vector<Tensor> Transformer::encoder_layer(Context& context, size_t i, std::vector<Tensor> x,
                                               const PackedSide& source,
                                               const Regularisation& masks,
                                               const AttentionProbe& probe) const {
  const Layer& w = encoder_[i];
  const auto drop = [&](double p, Role role) {
    return mask(p, masks, site(false, i, role), source);
  };
  Tensor qkv = linear(context, x[normed], w.self.in, w.self.in_bias);
  AttentionInput self = self_input(qkv, source, config_, false);
  self.drop = drop(masks.attention_dropout, in_self);
  if (probe) probe("encoder", int(i), self);
  Tensor sub = linear(context, attention(context, self), w.self.out, w.self.out_bias);
  x = end_sublayer(context, x, sub, drop(masks.dropout, on_self), config_,
                   norm_after(false, 2 * i));
  Tensor inner = linear_activation(context, x[normed], w.ffn.in, w.ffn.in_bias,
                                   config_.activation_kind(), drop(masks.relu_dropout, in_ffn));
  sub = linear(context, inner, w.ffn.out, w.ffn.out_bias);
  return end_sublayer(context, x, sub, drop(masks.dropout, on_ffn), config_,
                      norm_after(false, 2 * i + 1));
}

Tensor Transformer::memory(Context& context, Tensor encoded) const {
  return linear(context, encoded, memory_, memory_bias_);
}

Tensor Transformer::decode(Context& context, const PackedSide& target, Tensor memory,
                           const PackedSide& source, const Regularisation& masks,
                           const AttentionProbe& probe) const {
  std::vector<Tensor> x =
      begin(context, embed(context, embedding(true, target, masks)), config_, first_norm(true));
  for (size_t i = 0; i < decoder_.size(); ++i)
    x = context.segment(std::move(x), [=, this, &context](const std::vector<Tensor>& in) {
      return decoder_layer(context, i, in, target, memory, source, masks, probe);
    });
  return x[normed];
}

std::vector<Tensor> Transformer::decoder_layer(Context& context, size_t i, std::vector<Tensor> x,
                                               const PackedSide& target, Tensor memory,
                                               const PackedSide& source,
                                               const Regularisation& masks,
                                               const AttentionProbe& probe) const {
  const int64_t keys = int64_t(config_.heads) * config_.d_k;
  const int64_t values = int64_t(config_.heads) * config_.d_v;
  const Layer& w = decoder_[i];
  const auto drop = [&](double p, Role role) {
    return mask(p, masks, site(true, i, role), target);
  };
  Tensor qkv = linear(context, x[normed], w.self.in, w.self.in_bias);
  AttentionInput self = self_input(qkv, target, config_, true);
  self.drop = drop(masks.attention_dropout, in_self);
  if (probe) probe("decoder", int(i), self);
  Tensor sub = linear(context, attention(context, self), w.self.out, w.self.out_bias);
  x = end_sublayer(context, x, sub, drop(masks.dropout, on_self), config_, norm_after(true, 3 * i));

  AttentionInput cross = self;
  cross.q = linear(context, x[normed], w.cross.in, w.cross.in_bias);
  cross.k = cross.v = memory;
  cross.k_column = int64_t(i) * (keys + values);
  cross.v_column = cross.k_column + keys;
  cross.k_offsets = source.offsets;
  cross.causal = false;
  cross.drop = drop(masks.attention_dropout, in_cross);
  if (probe) probe("cross", int(i), cross);
  sub = linear(context, attention(context, cross), w.cross.out, w.cross.out_bias);
  x = end_sublayer(context, x, sub, drop(masks.dropout, on_cross), config_,
                   norm_after(true, 3 * i + 1));

  Tensor inner = linear_activation(context, x[normed], w.ffn.in, w.ffn.in_bias,
                                   config_.activation_kind(), drop(masks.relu_dropout, in_ffn));
  sub = linear(context, inner, w.ffn.out, w.ffn.out_bias);
  return end_sublayer(context, x, sub, drop(masks.dropout, on_ffn), config_,
                      norm_after(true, 3 * i + 2));
}

Tensor Transformer::logits(Context& context, Tensor decoded) const {
  return linear(context, decoded, output_);
}

const Norm& Transformer::first_norm(bool decoder) const {
  return (decoder ? decoder_norms_ : encoder_norms_)[0];
}

const Norm& Transformer::norm_after(bool decoder, size_t index) const {
  return (decoder ? decoder_norms_ : encoder_norms_)[index + (config_.pre_norm() ? 1 : 0)];
}

EmbedInput Transformer::embedding(bool decoder, const PackedSide& side,
                                  const Regularisation& masks) const {
  EmbedInput e;
  e.ids = side.ids;
  e.rows = side.rows;
  e.table = decoder ? target_embedding_ : source_embedding_;
  e.scale = std::sqrt(double(config_.d_model));
  e.learned = decoder ? target_positions_ : source_positions_;
  e.positions = e.learned ? e.learned.value : sinusoid_table_;
  e.drop = mask(masks.dropout, masks, site(decoder, 0, on_embedding), side);
  return e;
}

}  // namespace tx
