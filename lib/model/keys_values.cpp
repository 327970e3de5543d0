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

Tensor CachedKeysValues::attend(Context& context, CachedAttention p, const Tensor& q,
                                const Block& kv) const {
  Tensor out = context.make(q.rows(), shape.outputs());
  context.run([&](auto& k) {  // a dry run has no cache yet
    p.q = q.value().columns(0, p.queries());
    p.k = kv.rows.columns(kv.column, p.keys());
    p.v = kv.rows.columns(kv.column + p.keys(), p.values());
    p.o = out.value();
    k.attention_cached(p);
  });
  return out;
}

Tensor CachedKeysValues::self_attention(Context& context, int layer, Tensor qkv,
                                        const Dropout& drop) const {
  TX_ASSERT(drop.threshold == 0);
  CachedAttention rows = self_rows;
  rows.shape() = shape;
  Block earlier{{}, 0};
  context.run([&](auto&) {
    earlier.rows = cache.slice(layer * cache_rows, cache_rows);
    rows.own_k = qkv.value().columns(shape.queries(), shape.keys());
    rows.own_v = qkv.value().columns(shape.queries() + shape.keys(), shape.values());
  });
  return attend(context, rows, qkv, earlier);
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
  CachedAttention rows = cross_rows;
  rows.shape() = shape.of_all_keys();
  return attend(context, rows, q, {cross, layer * shape.width()});
}

}  // namespace tx
