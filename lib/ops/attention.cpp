// softmax(q k^T / sqrt(d_k)) v, equation 1, for all heads of section 3.2.2 at once. Kept: q, k, v
// and the log-sum-exp of each row and head, from which backward recomputes the weights. The loss of
// a guided head is computed only in backward, because forward may run twice (--recompute).
#include "lib/ops/ops.h"

namespace tx {

namespace {

// The kernel's view; out (T,H*V) and lse (T,H) may be empty where the kernel does not write them.
Attention kernel_view(const AttentionInput& in, Matrix out, Matrix lse) {
  Attention p;
  p.shape() = in;
  p.q = in.q.value().columns(in.q_column, in.queries());
  p.k = in.k.value().columns(in.k_column, in.keys());
  p.v = in.v.value().columns(in.v_column, in.values());
  p.o = out;
  p.lse = lse.data;
  p.q_offsets = in.q_offsets;
  p.k_offsets = in.k_offsets;
  p.sentences = in.sentences;
  p.drop = in.drop;
  return p;
}

void check_columns(const Tensor& t, int64_t first, int64_t count) {
  TX_ASSERT(first >= 0 && count > 0 && first + count <= t.cols());
}

}  // namespace

Tensor attention(Context& context, const AttentionInput& input) {
  TX_ASSERT(input.k.rows() == input.v.rows() && input.heads > 0 &&
            input.heads % input.kv_heads == 0);
  check_columns(input.q, input.q_column, input.queries());
  check_columns(input.k, input.k_column, input.keys());
  check_columns(input.v, input.v_column, input.values());
  TX_ASSERT(input.guide.head >= 0 && input.guide.head < input.heads);
  TX_ASSERT(!input.guide.starts || (input.window == 0 && input.slopes == nullptr && !input.biases));
  Tensor out = context.make(input.q.rows(), input.outputs());
  Tensor lse = context.make(input.q.rows(), input.heads, context.statistics_dtype());
  context.run([&](auto& k) { k.attention(kernel_view(input, out.value(), lse.value())); });
  context.on_backward([&context, in = input, out, lse]() mutable {
    if (!out.has_gradient()) return;
    bool add = false;  // every column range is assigned by its one reader
    AttentionGradient g;
    g.d_o = context.gradient(out);
    g.dq = context.gradient(in.q, add).columns(in.q_column, in.queries());
    g.dk = context.gradient(in.k, add).columns(in.k_column, in.keys());
    g.dv = context.gradient(in.v, add).columns(in.v_column, in.values());
    if (in.biases) g.d_distances = Context::gradient(in.biases, g.add_distances);
    context.run([&](auto& k) {
      const Attention p = kernel_view(in, out.value(), lse.value());
      k.attention_backward(p, g);
      if (in.guide.starts) k.guide_attention(p, in.guide, g);
    });
  });
  return out;
}

void attention_weights(Context& context, const AttentionInput& input, int64_t sentence, int head,
                       Matrix weights) {
  TX_ASSERT(weights.dtype == DType::f32 && head >= 0 && head < input.heads);
  TX_ASSERT(sentence >= 0 && sentence < input.sentences);
  context.run(
      [&](auto& k) { k.attention_weights(kernel_view(input, {}, {}), sentence, head, weights); });
}

}  // namespace tx
