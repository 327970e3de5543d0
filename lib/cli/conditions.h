// What options need beside them and what they do not go with, in words; see Option::needs(). Inside
// lib/cli only.
#pragma once
#include <string>
#include <vector>

#include "lib/cli/options.h"

namespace tx {

// {"needs --metric chrf or ter", "not with --json"}.
std::vector<std::string> relations(const std::vector<Conditions>& needed,
                                   const std::vector<Conditions>& excluded);

}  // namespace tx
