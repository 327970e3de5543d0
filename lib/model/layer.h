// The sub-layers and layers of section 3.1 of the paper (Figure 1) as objects: each holds its
// weights and turns the stream that enters it into the one that leaves it. Whole passes and
// incremental decoding run the same objects, see keys_values.h. Shapes are written in the letters
// of lib/tensor/dims.h.
#pragma once
#include <optional>
#include <string>

#include "lib/model/dropout_masks.h"
#include "lib/model/keys_values.h"
#include "lib/model/parameters.h"

namespace tx {

// What one sub-layer hands to the next, (N,D) each: what it is added to, and what it reads.
// Post-norm (the paper's) has one tensor for both.
struct Stream {
  Tensor residual, normed;
};

// y = x w^T + b; b may be empty.
struct Projection {
  Parameter weight, bias;
  Tensor operator()(Context& context, Tensor x, const SharedMask& mask = {}) const {
    return linear(context, std::move(x), weight, bias, mask);
  }
};
// The weights called `name`.weight and, where `bias`, `name`.bias; `joined` of them, which stand
// side by side in the block, are one product.
Projection find_projection(Parameters& parameters, const std::string& name, bool bias,
                           int joined = 1);

// The end of a sub-layer: x + dropout(sub) and the norm after it. In a pre-norm stack that is the
// norm of the sub-layer that follows.
struct ResidualNorm {
  Norm norm;
  bool pre_norm = false;
  Stream operator()(Context& context, const Stream& x, Tensor sub, const Dropout& drop) const;
};

// Multi-head attention of a sequence to itself, section 3.2.
struct SelfAttention {
  Projection qkv, out;  // (HK + GK + GV, D), (D, HV); G heads of keys and values
  ResidualNorm end;
  int64_t turned = 0;  // columns of queries and keys, which rotary positions turn
  Matrix angles;       // of rotary positions (longest, K), else empty
  int d_k = 0;
  Stream operator()(Context& context, const Stream& x, int layer, const KeysValues& kv,
                    const DropoutMasks& masks) const;
};

// Multi-head attention to the encoder's output. Its keys and values come from one product for all
// layers: Transformer::cross_keys_values().
struct CrossAttention {
  Projection query, out;  // (HK, D), (D, HV)
  ResidualNorm end;
  Stream operator()(Context& context, const Stream& x, int layer, const KeysValues& kv,
                    const DropoutMasks& masks) const;
};

// max(0, x W1 + b1) W2 + b2, section 3.3, or with another activation; a gate stands before W1.
struct FeedForward {
  Projection in, out;  // (F, D), with a gate (2F, D); (D, F)
  Activation activation = Activation::relu;
  ResidualNorm end;
  Stream operator()(Context& context, const Stream& x, int layer, const DropoutMasks& masks) const;
};

struct Layer {
  SelfAttention self;
  std::optional<CrossAttention> cross;  // a decoder that follows an encoder has it
  FeedForward feed_forward;
  Stream operator()(Context& context, Stream x, int layer, const KeysValues& kv,
                    const DropoutMasks& masks) const;
};

// The layer whose weights are called `name`.*; `cross`: with cross-attention. Each sub-layer ends
// with its own norm; a pre-norm stack shifts them.
Layer find_layer(Parameters& parameters, const std::string& name, bool cross,
                 const Matrix& angles = {});
// The norm whose weights are called `name`.weight and, where it has one, `name`.bias.
Norm find_norm(Parameters& parameters, const std::string& name);

}  // namespace tx
