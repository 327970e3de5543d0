// Signals to tx-train: INT, TERM and HUP ask for a save and an end after the step, a second INT ends
// at once; USR1 asks for a save. SIGPIPE is ignored, so that a lost stderr ends nothing.
#pragma once

namespace tx {

class SignalWatch {
 public:
  SignalWatch();   // installs the handlers
  ~SignalWatch();  // restores what was there
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  int stop() const;    // the signal that asked to stop, 0: none
  bool take_save();    // whether USR1 came since the last call
};

}  // namespace tx
