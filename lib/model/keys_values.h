// The source of the keys and values of a stack's attention: the only difference between a full pass
// (training, validation, extraction) and incremental decoding, which run the same layers (layer.h).
#pragma once
#include <functional>

#include "lib/model/packed_side.h"
#include "lib/ops/ops.h"

namespace tx {

// One attention, for a caller that inspects it. `kind` is "encoder", "decoder" or "cross". The
// probe is called before the attention runs, with `packed` set, and again after its sub-layer has
// been computed, with `heads` and `output` set. The pointers are valid during the call.
struct ProbedAttention {
  const char* kind;
  int layer;
  const AttentionInput* packed = nullptr;
  const Tensor* heads = nullptr;   // (N,HV): the weighted sums of values, concatenated heads
  const Tensor* output = nullptr;  // (N,D): what the sub-layer adds to its input
};
using AttentionProbe = std::function<void(const ProbedAttention&)>;

// Guided alignment: the layer whose cross-attention has a head trained towards links; -1: none.
struct CrossGuide {
  int layer = -1;
  AttentionGuide head;
};

class KeysValues {
 public:
  virtual ~KeysValues() = default;
  // (N,HV): self-attention of `layer`; qkv (N, HK + GK + GV): queries, keys and values.
  virtual Tensor self_attention(Context& context, int layer, Tensor qkv,
                                const Dropout& drop) const = 0;
  // (N,D): the recurrent unit of `layer`; x (N,2D): its inputs, then its gates.
  virtual Tensor recurrence(Context& context, int layer, Tensor x, const Parameter& bias) const = 0;
  // (N,HV): attention of the queries q (N,HK) to the encoder's output, as `layer` projects it.
  virtual Tensor cross_attention(Context& context, int layer, Tensor q,
                                 const Dropout& drop) const = 0;
  // Called after each sub-layer with the heads' outputs (N,HV) and the sub-layer's (N,D).
  virtual void finished(bool /*cross*/, int /*layer*/, const Tensor& /*heads*/,
                        const Tensor& /*output*/) const {}
};

// Full pass: the keys and values of the packed rows. `kind`: "encoder" or "decoder", for the probe.
class PackedKeysValues : public KeysValues {
 public:
  PackedKeysValues(const AttentionShape& shape, const PackedSide& rows, const char* kind,
                   AttentionProbe probe = {})
      : shape_(shape), rows_(rows), kind_(kind), probe_(std::move(probe)) {}
  // The input of cross-attention: (S, layers * (GK + GV)), keys and values of all layers.
  void attend_to(Tensor cross_keys_values, const PackedSide& source) {
    cross_ = std::move(cross_keys_values);
    cross_offsets_ = source.offsets;
  }
  void train_to(const CrossGuide& guide) { guide_ = guide; }
  // The parameter behind shape.distances of self-attention, which receives a gradient; may be
  // empty.
  void learn(const Parameter& biases) { biases_ = biases; }

  Tensor self_attention(Context& context, int layer, Tensor qkv,
                        const Dropout& drop) const override;
  Tensor recurrence(Context& context, int layer, Tensor x, const Parameter& bias) const override;
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
  Parameter biases_;
};

// A step of incremental decoding: the keys and values of earlier steps are in a cache of one row
// per hypothesis and step. The cache may be bf16 with f32 activations (on the CPU only). The memory
// is owned and filled by IncrementalDecoder.
class CachedKeysValues : public KeysValues {
 public:
  AttentionShape shape;  // of self-attention
  // (layers * cache_rows, GK + GV): self-attention's keys and values; or (.., D) f32: cells
  Matrix cache;
  int64_t cache_rows = 0;  // of one layer
  Matrix cross;            // (source rows, layers * (GK + GV))
  // The rows that each hypothesis reads, its own last; shape, q, k, v, o, own_k, own_v are unset.
  CachedAttention self_rows, cross_rows;
  Recurrence
      cell_rows;  // the cells that each hypothesis reads and writes; only from and to are set

  Tensor self_attention(Context& context, int layer, Tensor qkv,
                        const Dropout& drop) const override;
  Tensor recurrence(Context& context, int layer, Tensor x, const Parameter& bias) const override;
  Tensor cross_attention(Context& context, int layer, Tensor q, const Dropout& drop) const override;

 private:
  // x: its first HK columns are the queries. place(): the kernel's other arguments.
  template <class Place>
  Tensor attend(Context& context, const Tensor& x, const Place& place) const;
};

// All tokens of prompts in one pass: reads the rows' own keys and values and fills the cache.
class PromptKeysValues : public KeysValues {
 public:
  // cache: (layers * cache_rows, width), as in CachedKeysValues; slots (N): each row's in a layer.
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
  Tensor recurrence(Context&, int, Tensor, const Parameter&) const override {
    throw Bug("a decoder with prompts has self-attention", __FILE__, __LINE__);
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
