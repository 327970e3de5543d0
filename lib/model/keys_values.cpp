#include "lib/model/keys_values.h"

namespace tx {

AttentionInput PackedKeysValues::input(const AttentionShape& shape, const Dropout& drop) const {
  AttentionInput a;
  a.shape() = shape;
  a.q_offsets = a.k_offsets = rows_.offsets;
  a.sentences = rows_.sentences;
  a.drop = drop;
  return a;
}

Tensor PackedKeysValues::self_attention(Context& context, int layer, Tensor qkv,
                                        const Dropout& drop) const {
  AttentionInput a = input(shape_, drop);
  a.q = a.k = a.v = std::move(qkv);
  a.k_column = shape_.queries();
  a.v_column = a.k_column + shape_.keys();
  a.biases = biases_;
  if (probe_) probe_({kind_, layer, &a});
  return attention(context, a);
}

Tensor PackedKeysValues::recurrence(Context& context, int /*layer*/, Tensor x,
                                    const Parameter& bias) const {
  return tx::recurrence(context, std::move(x), bias, rows_.offsets, rows_.sentences);
}

Tensor PackedKeysValues::cross_attention(Context& context, int layer, Tensor q,
                                         const Dropout& drop) const {
  AttentionInput a = input(shape_.of_all_keys(), drop);
  a.q = std::move(q);
  a.k = a.v = cross_;
  a.k_column = layer * shape_.width();
  a.v_column = a.k_column + shape_.keys();
  a.k_offsets = cross_offsets_;
  if (layer == guide_.layer) a.guide = guide_.head;
  if (probe_) probe_({"cross", layer, &a});
  return attention(context, a);
}

void PackedKeysValues::finished(bool cross, int layer, const Tensor& heads,
                                const Tensor& output) const {
  if (probe_) probe_({cross ? "cross" : kind_, layer, nullptr, &heads, &output});
}

template <class Place>
Tensor CachedKeysValues::attend(Context& context, const Tensor& x, const Place& place) const {
  Tensor out = context.make(x.rows(), shape.outputs());
  const Context::Late late = context.take_late(x);
  context.run([&](auto& k) {  // a dry run has no cache yet
    CachedAttention p = place();
    p.q = x.value().columns(0, p.queries());
    p.o = out.value();
    if (late.product)
      k.attention_projected(late.norm, *late.product, p);
    else
      k.attention_cached(p);
  });
  return out;
}

Tensor CachedKeysValues::self_attention(Context& context, int layer, Tensor qkv,
                                        const Dropout& drop) const {
  TX_ASSERT(drop.threshold == 0);
  return attend(context, qkv, [&] {
    CachedAttention p = self_rows;
    p.shape() = shape;
    const Matrix rows = cache.slice(layer * cache_rows, cache_rows), own = qkv.value();
    p.k = rows.columns(0, p.keys());
    p.v = rows.columns(p.keys(), p.values());
    p.own_k = own.columns(p.queries(), p.keys());
    p.own_v = own.columns(p.queries() + p.keys(), p.values());
    return p;
  });
}

Tensor CachedKeysValues::recurrence(Context& context, int layer, Tensor x,
                                    const Parameter& bias) const {
  Tensor out = context.make(x.rows(), bias.value.cols);
  context.run([&](auto& k) {
    Recurrence rows = cell_rows;
    rows.x = x.value();
    rows.bias = bias.value;
    rows.cells = cache.slice(layer * cache_rows, cache_rows);
    rows.y = out.value();
    k.recurrence(rows);
  });
  return out;
}

Tensor CachedKeysValues::cross_attention(Context& context, int layer, Tensor q,
                                         const Dropout& drop) const {
  TX_ASSERT(drop.threshold == 0);
  return attend(context, q, [&] {
    CachedAttention p = cross_rows;
    p.shape() = shape.of_all_keys();
    const int64_t column = layer * shape.width();
    p.k = cross.columns(column, p.keys());
    p.v = cross.columns(column + p.keys(), p.values());
    return p;
  });
}

}  // namespace tx
