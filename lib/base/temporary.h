// Names of temporary files.
#pragma once
#include <string>

namespace tx {

// "FOLDER/.tx-RANDOM.tmp", which nobody can have guessed; a killed process leaves such a file at
// worst, and whoever tidies the folder knows it by its name.
std::string temporary_name(const std::string& folder);

}  // namespace tx
