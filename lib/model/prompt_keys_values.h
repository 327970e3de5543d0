// The keys and values of prompts in one pass: those of the packed rows, which also go to the cache
// that later steps read.
#pragma once
#include "lib/model/keys_values.h"

namespace tx {

class PromptKeysValues : public KeysValues {
 public:
  // cache: (layers * cache_rows, width), as that of CachedKeysValues; slots (N): the row of a
  // layer's cache for each row of the prompts.
  PromptKeysValues(const AttentionShape& shape, const PackedSide& rows, Matrix cache,
                   int64_t cache_rows, const int32_t* slots)
      : shape_(shape),
        rows_(shape, rows, "decoder"),
        cache_(cache),
        cache_rows_(cache_rows),
        slots_(slots) {}

  Tensor self_attention(Context& context, int layer, Tensor qkv,
                        const Dropout& drop) const override {
    context.run([&](auto& k) {
      k.scatter_rows(qkv.value().columns(shape_.queries(), shape_.width()), slots_,
                     cache_.slice(layer * cache_rows_, cache_rows_));
    });
    return rows_.self_attention(context, layer, std::move(qkv), drop);
  }
  Tensor cross_attention(Context&, int, Tensor, const Dropout&) const override {
    throw Bug("a decoder with prompts has no cross-attention", __FILE__, __LINE__);
  }

 private:
  AttentionShape shape_;
  PackedKeysValues rows_;
  Matrix cache_;
  int64_t cache_rows_;
  const int32_t* slots_;
};

}  // namespace tx
