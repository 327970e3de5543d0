// Writers of attention records.
#pragma once
#include <functional>
#include <memory>

#include "lib/attention/options.h"
#include "lib/attention/record.h"
#include "lib/attention/statistics.h"
#include "lib/base/io.h"

namespace tx {

class AttentionOutput {
 public:
  virtual ~AttentionOutput() = default;
  // Formats a record, on any thread; the result, which writes it, is called in the order of lines.
  using Write = std::function<void()>;
  virtual Write prepare(const AttentionRecord& record) = 0;
  virtual void flush() {}   // when the input pauses
  virtual void finish() {}  // at the end of the input
};

// The writer that the options select, to `out` or to the file of the option. `frequencies`: for
// --stats heads, filled before prepare(); kept by reference.
std::unique_ptr<AttentionOutput> make_attention_output(const DumpOptions& options,
                                                       const Selection& selection,
                                                       const TokenFrequencies& frequencies,
                                                       Writer& out);

// Arrays in one safetensors file, tx-attention(5), which finish() writes. Keeps both references.
std::unique_ptr<AttentionOutput> make_array_file(const DumpOptions& options,
                                                 const Selection& selection);
// IEEE 754 binary16, rounded to nearest, ties to even; overflow becomes infinity.
uint16_t to_half(float x);

}  // namespace tx
