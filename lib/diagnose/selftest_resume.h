// tx-train --selftest-resume: shows on the user's own data that a run which is killed and resumed
// ends with the bytes of a run never stopped.
#pragma once
#include <string>
#include <vector>

#include "lib/base/log.h"
#include "lib/train/options/options.h"

namespace tx {

// `arguments` are those of this process; each training is a process of its own, with the same
// settings, some seconds long, in a temporary directory. Kills one of them at places of a save and
// at other moments, lets it go on each time, compares every checkpoint and prints the verdict.
// Returns the exit status: 0 when all bytes are the same, else 1, and the directory stays.
int selftest_resume(const TrainOptions& options, std::vector<std::string> arguments,
                    const Log& log);

}  // namespace tx
