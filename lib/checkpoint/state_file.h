// The state file, tx-run(5): what a resumed run needs beside its model: Adam's moments, cursor and
// counters. It names the model it belongs to by checksum.
#pragma once
#include <string>

#include "lib/base/json.h"
#include "lib/model/parameters.h"

namespace tx {

// Writes the moments exactly, atomically; the bytes depend on the arguments alone. `moments` are
// whole blocks, those of all ranks, in the memory of the parameters' backend; `state` is any JSON
// of finite values, model_checksum what save_model() returned.
void save_state(const std::string& path, const Parameters& parameters, const Moments& moments,
                const Json& state, const std::string& model_checksum);

// DataError unless the file is whole and belongs to the model with this configuration and checksum.
void check_state(const std::string& path, const ModelConfig& config,
                 const std::string& model_checksum);

// Fills the moments, whole blocks as above, and returns `state`. DataError: empty, truncated,
// damaged, of a newer format, not a state, or of another model than the one with this checksum.
Json load_state(const std::string& path, const Parameters& parameters, const Moments& moments,
                const std::string& model_checksum);

// `state` alone; checks only that the file is a state. DataError: not a state, or damaged.
Json read_state(const std::string& path);

}  // namespace tx
