// Signals to tx-train: INT, TERM and HUP save and stop after the current step, a second INT exits
// at once; USR1 saves. Signals ignored at the start (nohup, background jobs) stay ignored.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <map>
#include <string>

namespace tx {

class SignalWatch {
 public:
  SignalWatch();   // installs the handlers
  ~SignalWatch();  // restores the previous ones
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  int stop() const;  // the signal received; 0: none
  bool take_save();  // whether USR1 was received since the last call

 private:
  std::map<int, struct sigaction> before_;
};

// Makes writes to a closed pipe fail instead of ending the process: a run outlives its terminal.
void ignore_sigpipe();

// While it exists, a second INT also ends the process group of `leader`.
class ChildWatch {
 public:
  explicit ChildWatch(pid_t leader);
  ~ChildWatch();
  ChildWatch(const ChildWatch&) = delete;
  ChildWatch& operator=(const ChildWatch&) = delete;
};

std::string signal_name(int signal);  // "INT"

}  // namespace tx
