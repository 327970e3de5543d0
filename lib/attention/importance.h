// Importance of attention heads on a text (Michel, Levy and Neubig, 2019).
#pragma once
#include <vector>

#include "lib/attention/input.h"
#include "lib/attention/selection.h"
#include "lib/attention/statistics.h"

namespace tx {

// Losses are -log P in nats per target token, with <eos>.
struct HeadImportance {
  AttentionKind kind;
  int layer = 0, head = 0;
  double loss = 0;  // with this head masked
  // Sum over sentences of |d loss / d gate|, per target token; the gate scales the head's output.
  double gradient = 0;
};

struct Importance {
  int64_t lines = 0, tokens = 0;  // without blank lines
  double loss = 0;                // with all heads
  std::vector<HeadImportance> heads;
};

// Loads the model again, in fp32 and with gradients, and evaluates the text once per selected head.
// `items` must have targets. Logs progress.
Importance measure_importance(const DumpOptions& options, const Selection& selection,
                              const std::vector<Item>& items, const Log& log);

FigureTable importance_table(const Importance& importance);

}  // namespace tx
