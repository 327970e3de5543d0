// Where the attentions of a stack find their keys and values: the one thing in which a whole pass
// (training, validation, extraction) and incremental decoding differ. The layers (layer.h) are the
// same for both.
#pragma once
#include <functional>
#include <string>

#include "lib/model/packed_side.h"
#include "lib/ops/ops.h"

namespace tx {

// One attention, for a caller that reads it. `kind` is "encoder", "decoder" or "cross". The probe
// is called when the attention is about to run, with `packed` set in a whole pass and `cached` in a
// step of incremental decoding; in a whole pass once more when its sub-layer has been computed,
// with `heads` and `output` set and the others null. All are valid during the call.
struct ProbedAttention {
  const char* kind;
  int layer;
  const AttentionInput* packed = nullptr;
  const CachedAttention* cached = nullptr;
  const Tensor* heads = nullptr;   // (N,HV): the weighted sum of values, head beside head
  const Tensor* output = nullptr;  // (N,D): what the sub-layer adds to its input
};
using AttentionProbe = std::function<void(const ProbedAttention&)>;

// The cross-attention of one layer, of which a head is trained to links; layer -1: none.
struct CrossGuide {
  int layer = -1;
  AttentionGuide head;
};

class KeysValues {
 public:
  virtual ~KeysValues() = default;
  // (N,HV): self-attention of `layer`; qkv (N, HK + GK + GV) holds queries, keys and values of the
  // rows.
  virtual Tensor self_attention(Context& context, int layer, Tensor qkv,
                                const Dropout& drop) const = 0;
  // (N,HV): attention of the queries q (N,HK) to the encoder's output, as `layer` projects it.
  virtual Tensor cross_attention(Context& context, int layer, Tensor q,
                                 const Dropout& drop) const = 0;
  // Told the heads' outputs (N,HV), and what the sub-layer makes of them (N,D).
  virtual void finished(bool /*cross*/, int /*layer*/, const Tensor& /*heads*/,
                        const Tensor& /*output*/) const {}
};

// The keys and values of the packed rows themselves. `kind`: "encoder" or "decoder", for the probe.
class PackedKeysValues : public KeysValues {
 public:
  PackedKeysValues(const AttentionShape& shape, const PackedSide& rows, const char* kind,
                   AttentionProbe probe = {})
      : shape_(shape), rows_(rows), kind_(kind), probe_(std::move(probe)) {}
  // What cross-attention reads: (S, layers * (GK + GV)), the keys and values of all layers, of the
  // sentences of `source`.
  void attend_to(Tensor cross_keys_values, const PackedSide& source) {
    cross_ = std::move(cross_keys_values);
    cross_offsets_ = source.offsets;
  }
  void train_to(const CrossGuide& guide) { guide_ = guide; }

  Tensor self_attention(Context& context, int layer, Tensor qkv,
                        const Dropout& drop) const override;
  Tensor cross_attention(Context& context, int layer, Tensor q, const Dropout& drop) const override;
  void finished(bool cross, int layer, const Tensor& heads, const Tensor& output) const override;

 private:
  AttentionInput input(const AttentionShape& shape, const Dropout& drop) const;
  AttentionShape shape_;
  PackedSide rows_;
  const char* kind_;
  AttentionProbe probe_;
  Tensor cross_;
  const int32_t* cross_offsets_ = nullptr;
  CrossGuide guide_;
};

// The keys and values of the steps before, kept in a cache: one row per hypothesis and step. The
// cache may be of bf16 where activations are f32 (on the CPU alone).
// incremental_decoder.h fills and owns what this points to.
class CachedKeysValues : public KeysValues {
 public:
  AttentionShape shape;    // of self-attention
  Matrix cache;            // (layers * cache_rows, GK + GV): self-attention's keys and values
  int64_t cache_rows = 0;  // of one layer
  Matrix cross;            // (source rows, layers * (GK + GV))
  // Which rows each hypothesis reads, its own last; shape, q, k, v, o and own_k, own_v unset.
  CachedAttention self_rows, cross_rows;
  AttentionProbe probe;

  Tensor self_attention(Context& context, int layer, Tensor qkv,
                        const Dropout& drop) const override;
  Tensor cross_attention(Context& context, int layer, Tensor q, const Dropout& drop) const override;

 private:
  // Where the keys of a layer and the values beside them are: from `column` of `rows` on.
  struct Block {
    Matrix rows;
    int64_t column;
  };
  // q: its first HK columns are the queries.
  Tensor attend(Context& context, const ProbedAttention& which, CachedAttention p, const Tensor& q,
                const Block& kv) const;
};

}  // namespace tx
