// What becomes of attention records. Each way to put them out is an AttentionOutput of its own:
// JSON Lines, drawings, a file of arrays, ...
#pragma once
#include <functional>
#include <memory>

#include "lib/attention/options.h"
#include "lib/attention/record.h"
#include "lib/base/io.h"

namespace tx {

class AttentionOutput {
 public:
  virtual ~AttentionOutput() = default;
  // Makes of a record what is written of it. Called on several threads at a time; what is returned
  // is called on one, in the order of the lines.
  using Write = std::function<void()>;
  virtual Write prepare(const AttentionRecord& record) = 0;
  virtual void flush() {}   // the input pauses
  virtual void finish() {}  // the input has ended
};

// What the options ask for; it goes to `out` or, of a file of arrays, to options.out.
std::unique_ptr<AttentionOutput> make_attention_output(const DumpOptions& options,
                                                       const Selection& selection, Writer& out);

}  // namespace tx
