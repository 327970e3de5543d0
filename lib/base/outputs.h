// Files that a user names as output.
#pragma once
#include <string>
#include <vector>

namespace tx {

// UsageError when `output` is one of the inputs, under whatever name (links are followed): writing
// it would destroy what is read. "-", devices and pipes are never the same.
// `option` is the one that names it.
void check_output(const std::string& output, const std::vector<std::string>& inputs,
                  const std::string& option = "--out");

}  // namespace tx
