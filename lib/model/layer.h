// The sub-layers and layers of section 3.1 of the paper (Figure 1) as function objects that hold
// their weights. Full passes and incremental decoding run the same objects, see keys_values.h.
// Shapes use the letters of lib/tensor/tensor.h.
#pragma once
#include <optional>
#include <string>

#include "lib/model/dropout_masks.h"
#include "lib/model/keys_values.h"
#include "lib/model/parameters.h"

namespace tx {

// The input of a sub-layer, (N,D) each: the residual that its output is added to, and the
// normalised input that it reads. In post-norm (the paper's) they are the same tensor.
struct Stream {
  Tensor residual, normed;
};

// y = x w^T + b; b may be empty.
struct Projection {
  Parameter weight, bias;
  Tensor operator()(Context& context, Tensor x) const {
    return linear(context, std::move(x), weight, bias);
  }
};
// `name`.weight and, with `bias`, `name`.bias; `joined` adjacent entries are one product.
Projection find_projection(Parameters& parameters, const std::string& name, bool bias,
                           int joined = 1);

// The end of a sub-layer: x + dropout(sub), then a norm, which in a pre-norm stack is that of the
// next sub-layer. Ablations: no norm, or dropout(sub) alone.
struct ResidualNorm {
  Norm norm;  // empty: none
  bool pre_norm = false, residual = true;
  Stream operator()(Context& context, const Stream& x, Tensor sub, const Dropout& drop) const;
};

// Multi-head attention of a sequence to itself, section 3.2.
struct SelfAttention {
  Projection qkv, out;  // (HK + GK + GV, D), (D, HV); G heads of keys and values
  Norm heads;           // of queries, then of keys: (1,2K); or empty
  ResidualNorm end;
  int64_t queries = 0, turned = 0;  // columns of queries; of queries and keys, which are rotated
  Matrix angles;                    // of rotary positions (longest, K), else empty
  int d_k = 0;
  Stream operator()(Context& context, const Stream& x, int layer, const KeysValues& kv,
                    const DropoutMasks& masks) const;
};

// A recurrent unit in the place of a decoder's self-attention (SSRU, Kim et al., 2019).
struct RecurrentUnit {
  Projection in;  // (2D, D): inputs, then gates, whose bias is (1,D)
  ResidualNorm end;
  Stream operator()(Context& context, const Stream& x, int layer, const KeysValues& kv,
                    const DropoutMasks& masks) const;
};

// Multi-head attention to the encoder's output, with keys and values of cross_keys_values().
struct CrossAttention {
  Projection query, out;  // (HK, D), (D, HV)
  ResidualNorm end;
  Stream operator()(Context& context, const Stream& x, int layer, const KeysValues& kv,
                    const DropoutMasks& masks) const;
};

// max(0, x W1 + b1) W2 + b2, section 3.3, or another activation. A gate's rows precede W1's.
struct FeedForward {
  Projection in, out;  // (F, D), with a gate (2F, D); (D, F)
  Activation activation = Activation::relu;
  ResidualNorm end;
  Stream operator()(Context& context, const Stream& x, int layer, const DropoutMasks& masks) const;
};

struct Layer {
  std::optional<SelfAttention> self;
  std::optional<RecurrentUnit> recurrence;
  std::optional<CrossAttention> cross;  // in a decoder that reads an encoder
  std::optional<FeedForward> feed_forward;
  Stream operator()(Context& context, Stream x, int layer, const KeysValues& kv,
                    const DropoutMasks& masks) const;
};

// Layer `number` of a side's stack; each sub-layer ends with its own norm, before shifts.
Layer find_layer(Parameters& parameters, size_t side, int number, const Matrix& angles = {});
// The norm with the weights `name`.weight and, if it exists, `name`.bias; empty without weights.
Norm find_norm(Parameters& parameters, const std::string& name);

}  // namespace tx
