// Failpoints: places where a test kills this process as a power cut would. The environment variable
// TX_FAILPOINT names one, "PLACE", or "PLACE:N" for the N-th time it is passed (from 1); without it
// a failpoint does nothing. The places of a save, in their order:
//
//   rename       a file is written and synced under its temporary name (any file of the run)
//   model        the model has its name, its state is not begun; --valid-command comes next
//   state        before the state
//   links        the pair is complete, last and best still name an older one
//   best         between the two links
//   prune        before old checkpoints are removed
//   pruning      between two removals
#pragma once

namespace tx {

void failpoint(const char* place);

}  // namespace tx
