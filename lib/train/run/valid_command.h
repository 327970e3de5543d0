// --valid-command: a shell command that scores a saved checkpoint.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "lib/base/log.h"

namespace tx {

struct ValidCommand {
  std::string command;  // of /bin/sh
  double timeout = 0;   // seconds after which it is ended; 0: never
  // Called ten times a second: once it returns true, `ending` is called and the command is ended.
  std::function<bool()> stop = [] { return false; };
  std::function<void()> ending = [] {};
};

struct CommandScore {
  std::optional<double> score;  // empty: it failed, with a warning, or it was stopped
  bool stopped = false;         // by ValidCommand::stop
};

// Runs the command with the model's path in $MODEL and nothing on its standard input; its standard
// error is ours. What it prints must be a score as parse_score() takes it: DataError that shows
// what came where it is not. A command that ends with another status than 0, by a signal, or not
// within its time has no score, and a warning says so. IoError when no shell can be started.
//
// It leads a process group of its own, so that the terminal's Ctrl-C ends a training after its save
// and not the command before it. Where the command is ended here, its group gets TERM, and KILL a
// second later; nothing waits longer for it than that. A child that leaves the group is let go.
CommandScore run_valid_command(const ValidCommand& command, const std::string& model,
                               const Log& log);

// The score in what a command printed, white space around it apart: one number ("27.3", "-1e2"),
// the line that tx-bleu prints for one metric, or the object of its --json. None for anything else,
// for numbers that are not finite, and for TER, of which the lower is the better.
std::optional<double> parse_score(const std::string& text);

}  // namespace tx
