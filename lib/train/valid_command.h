// --valid-command: a shell command that scores a saved checkpoint.
#pragma once
#include <optional>
#include <string>

#include "lib/base/log.h"

namespace tx {

// Runs `command` with the model's path in $MODEL and nothing on its standard input; its standard
// error is ours. The first number on its standard output is the score. None, after a warning, when
// it fails or prints no number; IoError when no shell can be started. A process group of its own
// keeps it from the terminal's Ctrl-C: a run that is told to stop finishes its save first.
std::optional<double> run_valid_command(const std::string& command, const std::string& model,
                                        const Log& log);

// The first number in a text that is no part of a word: "chrF2 = -1.5e1 (...)" gives -15. None when
// there is none or it is too large.
std::optional<double> first_number(const std::string& text);

}  // namespace tx
