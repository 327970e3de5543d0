// The differentiable operations, one file each. A file begins with the op's equation and with what
// is kept for the backward pass. Shapes use the letters of lib/tensor/tensor.h. Wrong shapes throw
// Bug.
#pragma once
#include "lib/ranks/communicator.h"
#include "lib/tensor/tensor.h"

namespace tx {

// x (N,D) = dropout(table[ids] * scale + positions[position]); drop.keys must be set even when its
// threshold is 0. `learned` positions receive a gradient; sinusoids are a plain matrix.
struct EmbedInput {
  const int32_t* ids = nullptr;  // N; -1 (CPU only): a row of zeros without gradient
  int64_t rows = 0;
  Parameter table;  // (V,D)
  double scale = 1;
  Matrix positions;   // (at least max position + 1, D) f32 or f64, or empty
  Parameter learned;  // empty unless positions are learned
  Dropout drop;
  const int32_t* by_id = nullptr;  // N: see Backend's embed_backward(); may be null
  const int32_t* cut = nullptr;    // N: rows with a value other than 0 have no token; may be null
  int32_t blank = -1;              // nor have those with this id
};
Tensor embed(Context& context, const EmbedInput& input);

// y (N,O) = x (N,I) w^T + bias; bias may be empty.
Tensor linear(Context& context, Tensor x, const Parameter& w, const Parameter& bias = {});

// y (N,F) = dropout(activation(x w^T + bias)), section 3.3 of the paper. A gated activation has w
// (2F,D), the rows of the gate first: y = dropout(f(gate) * up).
Tensor linear_activation(Context& context, Tensor x, const Parameter& w, const Parameter& bias,
                         Activation activation, const Dropout& drop);

// linear(linear_activation(x, w1, b1, activation, drop), w2, b2): section 3.3. The ranks divide the
// outputs of w1 and the inputs of w2, or nothing.
Tensor feed_forward(Context& context, Tensor x, const Parameter& w1, const Parameter& b1,
                    const Parameter& w2, const Parameter& b2, Activation activation,
                    const Dropout& drop);

// gamma * (x - mean) / sqrt(var + epsilon) + beta over the D features of each row; without beta
// gamma * x / sqrt(mean of x^2 + epsilon); without gamma x itself.
struct Norm {
  Parameter gamma, beta;  // (1,D) f32 or f64; beta or both may be empty
  double epsilon = 1e-6;
};
Tensor layer_norm(Context& context, Tensor x, const Norm& norm);

// sum = x + dropout(sub); normed = layer_norm(sum): the end of a sub-layer. x may be empty.
struct Normed {
  Tensor sum, normed;
};
Normed add_norm(Context& context, Tensor x, Tensor sub, const Dropout& drop, const Norm& norm);

// RMSNorm of every head's queries and keys (Henry et al., 2020), in place: no op may have read x
// before. gamma (1,2K): of the heads in the first `queries` columns, then of those up to `columns`.
void norm_heads(Context& context, Tensor x, const Norm& norm, int64_t queries, int64_t columns);

// Rotates the first `columns` columns of x by the rotary angles of the rows' positions, in place:
// no op may have read x before, and the op that computed x must not keep it. `table` and `width`
// are those of rotate() in kernels/interface.inc.
struct Rotary {
  Matrix table;
  int width = 0;
  const uint32_t* positions = nullptr;
};
void rotate(Context& context, Tensor x, int64_t columns, const Rotary& rotary);

// softmax(q k^T / sqrt(d_k)) v for every sentence and head, section 3.2. q, k and v are column
// ranges of tensors, so that one product computes several of them. Each range must be read by
// exactly one attention, and the ranges of a tensor must cover it.
struct AttentionInput : AttentionShape {
  Tensor q, k, v;
  int64_t q_column = 0, k_column = 0, v_column = 0;
  const int32_t *q_offsets = nullptr, *k_offsets = nullptr;  // B + 1
  int64_t sentences = 0;
  Dropout drop;
  Parameter biases;      // (1, heads * buckets): `distances`, which receive a gradient; or empty
  AttentionGuide guide;  // if it has `starts`, backward adds its loss and gradient
};
Tensor attention(Context& context, const AttentionInput& input);  // (T, heads * d_v)
// softmax(q k^T / sqrt(d_k)) of one sentence and head, without dropout, zero where masked:
// weights (its queries, its keys) f32 in the backend's memory.
void attention_weights(Context& context, const AttentionInput& input, int64_t sentence, int head,
                       Matrix weights);

// Simpler simple recurrent units (Kim et al., 2019), (N,D): recurrence() in kernels/interface.inc.
// x (N,2D): inputs, then gates; read by nothing else. bias (1,D): of the gates.
Tensor recurrence(Context& context, Tensor x, const Parameter& bias, const int32_t* offsets,
                  int64_t sentences);

// Label-smoothed cross-entropy (tx-paper(7), 5.4): label 1 - eps, others eps / (V - 1). Adds its
// sums to *record. When recording, the gradient times record->loss_scale replaces the logits.
void cross_entropy(Context& context, Tensor logits, const int32_t* labels, int64_t vocabulary,
                   double smoothing, StepRecord* record);

// The loss of two passes over the same tokens, rows i and R + i of the logits (2R,Vp), which get
// the gradient: consistency_loss() in kernels/interface.inc.
void consistency_loss(Context& context, Tensor logits, const int32_t* labels, int64_t vocabulary,
                      double smoothing, const Consistency& consistency, StepRecord* record);

// Tensor parallelism (Shoeybi et al., 2019, section 3). Every rank runs the same ops; sums are in
// rank order and bit-identical. Only for host memory.

// y = x, for an input that the shards of all ranks read: the gradient of x is the sum of the ranks'
// gradients of y. y shares the memory of x.
Tensor read_by_ranks(Context& context, Tensor x, Communicator& ranks);
// x becomes the sum of the ranks' x, in place: no op may have read x before, and the op that
// computed x must not keep it. On every rank the gradient of the sum is the gradient of x.
void sum_over_ranks(Context& context, const Tensor& x, Communicator& ranks);

// cross_entropy() with a sharded vocabulary: logits (T,Vp) of `count` tokens from `first` on.
struct SplitVocabulary {
  int64_t first = 0, count = 0, vocabulary = 0;
};
void split_cross_entropy(Context& context, Tensor logits, const int32_t* labels,
                         const SplitVocabulary& tokens, double smoothing, StepRecord* record,
                         Communicator& ranks);

}  // namespace tx
