// --valid-command: a shell command that scores a saved checkpoint.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "lib/base/log.h"

namespace tx {

struct ValidCommand {
  std::string command;  // of /bin/sh
  double timeout = 0;   // seconds; 0: none
  // Called ten times a second: once it returns true, `ending` is called and the command is killed.
  std::function<bool()> stop = [] { return false; };
  std::function<void()> ending = [] {};
};

struct CommandScore {
  std::optional<double> score;  // empty: it failed (a warning was printed) or was stopped
  bool stopped = false;         // by ValidCommand::stop
};

// Runs the command with the model's path in $MODEL, empty standard input, and tx-train's standard
// error. Its output must be a score for parse_score(): otherwise DataError, which quotes it. A
// command that fails, is killed by a signal or exceeds its time has no score, with a warning.
// IoError if no shell can be started.
//
// The command has its own process group, so that Ctrl-C in a terminal stops the run after its save
// and does not kill the command first. To kill it here, the group gets TERM, and KILL a second
// later. A child that leaves the group is not waited for.
CommandScore run_valid_command(const ValidCommand& command, const std::string& model,
                               const Log& log);

// The score in a command's output: one number ("27.3", "-1e2"), the line that tx-bleu prints for
// one metric, or the object of its --json; surrounding white space is ignored. None for anything
// else, for non-finite numbers, and for TER, of which lower is better.
std::optional<double> parse_score(const std::string& text);

}  // namespace tx
