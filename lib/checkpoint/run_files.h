// The checkpoints of a run directory, tx-run(5), as every reader sees them. Nothing is locked: a
// file that exists is whole.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tx {

// RUN/KIND-STEP.safetensors, where kind is "model" or "state".
std::string checkpoint_file(const std::string& run, const std::string& kind, int64_t step);

// The steps of which RUN has such a file, ascending; IoError when the folder cannot be read.
std::vector<int64_t> checkpoint_steps(const std::string& run, const std::string& kind);

}  // namespace tx
