// Signals to tx-train: INT, TERM and HUP ask for a save and an end after the step, a second INT
// ends at once; USR1 asks for a save. One that was ignored when the process started (nohup, a job
// in the background of a script) stays ignored.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <map>
#include <string>

namespace tx {

class SignalWatch {
 public:
  SignalWatch();   // installs the handlers
  ~SignalWatch();  // restores what was there
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  int stop() const;  // the signal that asked to stop; 0: there was none
  bool take_save();  // whether USR1 came since the last call

 private:
  std::map<int, struct sigaction> before_;
};

// A lost standard error must not end a training: from here on a write to a closed pipe only fails.
void ignore_sigpipe();

// While it lives, a second INT also ends the process group that `leader` leads.
class ChildWatch {
 public:
  explicit ChildWatch(pid_t leader);
  ~ChildWatch();
  ChildWatch(const ChildWatch&) = delete;
  ChildWatch& operator=(const ChildWatch&) = delete;
};

std::string signal_name(int signal);  // "INT"

}  // namespace tx
