// Failpoints: places where a test kills this process as a power failure would. TX_FAILPOINT selects
// one: "PLACE", or "PLACE:N" for the N-th time that it is reached (from 1). In a save, in order:
//   sync         any file of the run is written under its temporary name, before fsync
//   rename       after fsync, before it is renamed
//   renamed      after the rename, before fsync of the directory
//   model        the model is saved, its training state is not; --valid-command runs next
//   state        before the training state is saved
//   links        both files are saved, the links last and best are still old
//   link         the new link exists under its temporary name
//   best         between the two links
//   prune        before old checkpoints are deleted
//   pruning      between two deletions
//   rewind       --on-spike rewind: weights and links are earlier ones, the later files still exist
//   rewound      the later ones are deleted, the log is not yet truncated
#pragma once

namespace tx {

void failpoint(const char* place);

}  // namespace tx
