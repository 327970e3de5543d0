// The state file, tx-run(5): what a resumed run needs beside its model: Adam's moments, cursor and
// counters. It names the model it belongs to by checksum.
#pragma once
#include <string>

#include "lib/base/json.h"
#include "lib/model/parameters.h"

namespace tx {

void save_state(const std::string& path, const Parameters& parameters, const Json& state,
                const std::string& model_checksum);
// DataError unless the file is whole and belongs to the model of that checksum.
void check_state(const std::string& path, const std::string& model_checksum);
// Fills the moments, returns the state; DataError: damaged, newer, or of another model.
Json load_state(const std::string& path, Parameters& parameters, const std::string& model_checksum);

}  // namespace tx
