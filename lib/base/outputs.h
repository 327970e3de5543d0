// Files that a user names as output.
#pragma once
#include <string>
#include <vector>

namespace tx {

// UsageError where writing `output` would destroy what is read, under whatever name (links are
// followed): the file is one of `inputs` or standard input, it lies in a directory among them that
// is not a run directory, or it is a run directory's own file. Devices, pipes and "-" are never
// refused. `option` is the one that names it.
void check_output(const std::string& option, const std::string& output,
                  const std::vector<std::string>& inputs);

// Whether a text in place of a file is the number of an open descriptor.
bool is_descriptor(const std::string& text);

// Whether a run of tx-train writes files of this name into its directory, tx-run(5).
bool is_run_file(const std::string& name);

}  // namespace tx
