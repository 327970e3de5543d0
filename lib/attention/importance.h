// How much the heads of a model matter on a text (Michel, Levy and Neubig, 2019).
#pragma once
#include <string>
#include <vector>

#include "lib/attention/input.h"
#include "lib/attention/selection.h"
#include "lib/base/json.h"

namespace tx {

// Losses are -log P, in nats per target token, <eos> counted.
struct HeadImportance {
  AttentionKind kind;
  int layer = 0, head = 0;
  double loss = 0;  // of the text without this head
  double gradient =
      0;  // sum over sentences of |d loss / d gate|, the head's output being gate * it
};

struct Importance {
  int64_t lines = 0, tokens = 0;  // blank lines do not count
  double loss = 0;                // with all heads
  std::vector<HeadImportance> heads;
};

// Reads the model again, in fp32 and with gradients, and passes over the text once for each head
// selected. `items` have their targets. Progress goes to `log`.
Importance measure_importance(const DumpOptions& options, const Selection& selection,
                              const std::vector<Item>& items, const Log& log);

std::string importance_as_tsv(const Importance& importance, int digits);
Json importance_as_json(const Importance& importance);

}  // namespace tx
