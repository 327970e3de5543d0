// loss = -(1 - eps) log p[label] - eps / (V - 1) sum of the other log p, section 5.4. One kernel
// reads the logits once and overwrites them with their gradient (p - q) times the loss scale.
// consistency_loss() adds the divergence of a second pass: R-Drop (Liang et al., 2021), SimCut
// (Gao et al., 2022).
#include "lib/ops/ops.h"

namespace tx {

void cross_entropy(Context& context, Tensor logits, const int32_t* labels, int64_t vocabulary,
                   double smoothing, StepRecord* record) {
  TX_ASSERT(vocabulary <= logits.cols() && vocabulary > 1);
  context.run([&](auto& k) {
    k.cross_entropy(logits.value(), labels, vocabulary, smoothing, context.recording, record);
  });
  if (context.recording) context.gradient_in_place(logits);
}

void consistency_loss(Context& context, Tensor logits, const int32_t* labels, int64_t vocabulary,
                      double smoothing, const Consistency& consistency, StepRecord* record) {
  TX_ASSERT(context.recording && logits.rows() % 2 == 0);
  TX_ASSERT(vocabulary <= logits.cols() && vocabulary > 1);
  context.run([&](auto& k) {
    k.consistency_loss(logits.value(), labels, vocabulary, smoothing, consistency, record);
  });
  context.gradient_in_place(logits);
}

}  // namespace tx
