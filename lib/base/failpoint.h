// Failpoints: places where a test kills this process as a power cut would. The environment variable
// TX_FAILPOINT names one: "PLACE", or "PLACE:N" for the N-th time it is passed (from 1). Without it
// a failpoint does nothing. The places of a save, in their order:
//
//   sync         a file is written under its temporary name, not yet forced to the disk
//   rename       ... and forced to the disk (any file of the run)
//   renamed      it has its name, the folder is not yet forced to the disk
//   model        the model has its name, its state is not begun; --valid-command comes next
//   state        before the state
//   links        the pair is complete, last and best still name an older one
//   link         the new link is made, the old one still bears the name
//   best         between the two links
//   prune        before old checkpoints are removed
//   pruning      between two removals
//   rewind       --on-spike rewind: weights and links are those of the earlier checkpoint, the
//                later ones are still there
//   rewound      the later ones are gone, the log is not cut
#pragma once

namespace tx {

void failpoint(const char* place);

}  // namespace tx
