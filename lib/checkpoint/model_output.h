// The name that a tool is given for the model that it writes.
#pragma once
#include <string>

namespace tx {

// UsageError where a file may not take this name (--out), since something that is no model would be
// lost. Pipes and devices hold nothing that could be; "-" is standard output.
void check_replaceable(const std::string& path);

}  // namespace tx
