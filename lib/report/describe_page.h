// tx-train --describe --html: a page with the learning rate, the positional encoding and the
// parameters by block for the given options.
#pragma once
#include <string>

#include "lib/base/json.h"
#include "lib/model/config.h"
#include "lib/train/options/options.h"

namespace tx {

// The page's data.
Json describe_data(const ModelConfig& config, const TrainOptions& options);

// Writes the page to `out` ("-": standard output).
void write_description(const ModelConfig& config, const TrainOptions& options,
                       const std::string& out);

}  // namespace tx
