// Checks of the files that a user names as output.
#pragma once
#include <string>
#include <vector>

namespace tx {

// UsageError, naming `option`, if writing `output` would destroy an input, under any name: it is
// one of `inputs` or standard input, in a directory among them that is not a run directory, or one
// of a run directory's own files. Devices, pipes and "-" pass. IoError if it may not be written.
void check_output(const std::string& option, const std::string& output,
                  const std::vector<std::string>& inputs);

// For files written after long work. IoError if `output` cannot be created or replaced; "-" passes.
void check_writable(const std::string& output);

// Whether reading it takes standard input: "-", or a name such as /dev/stdin of a pipe or terminal.
bool is_standard_input(const std::string& path);

// Whether the text, given instead of a file, is the number of a file descriptor.
bool is_descriptor(const std::string& text);

// Whether the file name is of a temporary_name(), without its directory. A process that writes such
// a file holds its lock, flock(2); what nobody holds was left by a killed process.
bool is_temporary_name(const std::string& name);

// Whether tx-train writes files of this name into its run directory, tx-run(5).
bool is_run_file(const std::string& name);

}  // namespace tx
