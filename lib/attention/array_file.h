// Attention of a text as arrays in one safetensors file, tx-attention(5).
#pragma once
#include <cstdint>

#include "lib/attention/output.h"
#include "lib/checkpoint/safetensors.h"

namespace tx {

// Line n has arrays named "n.*"; "n.record" holds the bytes of its JSON record without arrays.
class ArrayFile : public AttentionOutput {
 public:
  // Keeps references to both. finish() writes options.out.
  ArrayFile(const DumpOptions& options, const Selection& selection);
  Write prepare(const AttentionRecord& record) override;
  void finish() override { file_.close(); }

 private:
  const DumpOptions& options_;
  const Selection& selection_;
  SafetensorsSpool file_;
};

// IEEE 754 binary16, rounded to nearest, ties to even; overflow becomes infinity.
uint16_t to_half(float x);

}  // namespace tx
