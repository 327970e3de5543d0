// The arrays of a text as one safetensors file, tx-attention(5).
#pragma once
#include "lib/attention/output.h"
#include "lib/checkpoint/safetensors.h"

namespace tx {

// Line n has its arrays under names that begin with "n.", and its record without arrays as JSON,
// bytes of "n.record".
class ArrayFile : public AttentionOutput {
 public:
  // Both must live longer. Writes options.out when all lines are there.
  ArrayFile(const DumpOptions& options, const Selection& selection);
  Write prepare(const AttentionRecord& record) override;
  void finish() override { file_.close(); }

 private:
  const DumpOptions& options_;
  const Selection& selection_;
  SafetensorsSpool file_;
};

}  // namespace tx
