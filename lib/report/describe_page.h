// tx-train --describe --html: the pictures of the tutorials for the user's own settings: the
// learning rate, the positional encoding, the parameters by block.
#pragma once
#include <string>

#include "lib/base/json.h"
#include "lib/model/config.h"
#include "lib/train/options/options.h"

namespace tx {

// The page's data, of the schedule of these options.
Json describe_data(const ModelConfig& config, const TrainOptions& options);

// Writes the page to `out`, "-" being standard output.
void write_description(const ModelConfig& config, const TrainOptions& options,
                       const std::string& out);

}  // namespace tx
