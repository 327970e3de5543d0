#include "lib/model/layer.h"

namespace tx {

Projection find_projection(Parameters& p, const std::string& name, bool bias, int joined) {
  return {p.get(name + ".weight", joined), bias ? p.get(name + ".bias", joined) : Parameter{}};
}

Stream ResidualNorm::operator()(Context& context, const Stream& x, Tensor sub,
                                const Dropout& drop) const {
  const Tensor to = residual ? x.residual : Tensor();
  const Normed y = add_norm(context, to, std::move(sub), drop, norm);
  return {pre_norm ? y.sum : y.normed, y.normed};
}

Stream SelfAttention::operator()(Context& context, const Stream& x, int layer, const KeysValues& kv,
                                 const DropoutMasks& masks) const {
  const Dropout weights = masks.at(DropoutPlace::in_self, layer);
  Tensor projected = qkv(context, x.normed);
  if (heads.gamma) norm_heads(context, projected, heads, queries, turned);
  if (!angles.empty()) rotate(context, projected, turned, {angles, d_k, weights.keys.position});
  const Tensor mixed = kv.self_attention(context, layer, std::move(projected), weights);
  Tensor sub = out(context, mixed);
  kv.finished(false, layer, mixed, sub);
  return end(context, x, std::move(sub), masks.at(DropoutPlace::on_self, layer));
}

Stream RecurrentUnit::operator()(Context& context, const Stream& x, int layer, const KeysValues& kv,
                                 const DropoutMasks& masks) const {
  Tensor sub = kv.recurrence(context, layer, linear(context, x.normed, in.weight), in.bias);
  return end(context, x, std::move(sub), masks.at(DropoutPlace::on_self, layer));
}

Stream CrossAttention::operator()(Context& context, const Stream& x, int layer,
                                  const KeysValues& kv, const DropoutMasks& masks) const {
  const Dropout weights = masks.at(DropoutPlace::in_cross, layer);
  const Tensor heads = kv.cross_attention(context, layer, query(context, x.normed), weights);
  Tensor sub = out(context, heads);
  kv.finished(true, layer, heads, sub);
  return end(context, x, std::move(sub), masks.at(DropoutPlace::on_cross, layer));
}

Stream FeedForward::operator()(Context& context, const Stream& x, int layer,
                               const DropoutMasks& masks) const {
  const Dropout drop = masks.at(DropoutPlace::in_feed_forward, layer);
  Tensor sub =
      feed_forward(context, x.normed, in.weight, in.bias, out.weight, out.bias, activation, drop);
  return end(context, x, std::move(sub), masks.at(DropoutPlace::on_feed_forward, layer));
}

Stream Layer::operator()(Context& context, Stream x, int layer, const KeysValues& kv,
                         const DropoutMasks& masks) const {
  if (self) x = (*self)(context, x, layer, kv, masks);
  if (recurrence) x = (*recurrence)(context, x, layer, kv, masks);
  if (cross) x = (*cross)(context, x, layer, kv, masks);
  if (feed_forward) x = (*feed_forward)(context, x, layer, masks);
  return x;
}

Norm find_norm(Parameters& p, const std::string& name) {
  if (!p.has(name + ".weight")) return {};
  const bool bias = p.has(name + ".bias");
  return {p.get(name + ".weight"), bias ? p.get(name + ".bias") : Parameter{},
          p.config().norm_epsilon};
}

namespace {

Norm find_head_norm(Parameters& p, const std::string& layer) {
  if (!p.config().head_norm) return {};
  return {p.get(layer + ".self_attn.q_norm.weight", 2), {}, p.config().norm_epsilon};
}

}  // namespace

Layer find_layer(Parameters& p, size_t side, int number, const Matrix& angles) {
  const ModelConfig& config = p.config();
  const std::string name = config.stack_name(side) + (".layers." + std::to_string(number));
  const auto projection = [&](const std::string& part, bool bias, int joined = 1) {
    return find_projection(p, name + part, bias, joined);
  };
  const auto end = [&](const std::string& part) {
    return ResidualNorm{find_norm(p, name + part), config.pre_norm(), config.residual};
  };
  const bool bias = config.attention_bias, inner_bias = config.feed_forward_bias;
  const bool out_bias = bias && config.attention_output_bias;
  Layer layer;
  if (config.recurrent(side))
    layer.recurrence = RecurrentUnit{
        {p.get(name + ".recurrence.in_proj.weight", 2), p.get(name + ".recurrence.gate_proj.bias")},
        end(".recurrence_norm")};
  if (config.self_attends(side))
    layer.self = SelfAttention{projection(".self_attn.q_proj", bias, 3),
                               projection(".self_attn.out_proj", out_bias),
                               find_head_norm(p, name),
                               end(".self_attn_norm"),
                               int64_t(config.heads) * config.d_k,
                               int64_t(config.heads + config.key_heads()) * config.d_k,
                               angles,
                               config.d_k};
  if (config.has_cross(side))
    layer.cross =
        CrossAttention{projection(".cross_attn.q_proj", bias),
                       projection(".cross_attn.out_proj", out_bias), end(".cross_attn_norm")};
  const bool gated = config.gated();
  if (config.d_ff > 0)
    layer.feed_forward = FeedForward{
        projection(gated ? ".ffn.gate_proj" : ".ffn.in_proj", inner_bias, gated ? 2 : 1),
        projection(".ffn.out_proj", inner_bias), config.activation, end(".ffn_norm")};
  return layer;
}

}  // namespace tx
