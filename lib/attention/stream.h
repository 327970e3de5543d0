// Lines of text in, the attention of each out, in order.
#pragma once
#include "lib/attention/options.h"
#include "lib/base/log.h"

namespace tx {

// What has arrived is answered and flushed when the input pauses. A blank line has an empty record.
// With a target, files of different line counts are a DataError that gives both counts, once the
// lines that belong together are written.
void dump_attention(const DumpOptions& options, const Log& log);

}  // namespace tx
