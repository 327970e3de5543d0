#include "lib/train/signals.h"

#include <signal.h>
#include <unistd.h>

#include <initializer_list>

namespace tx {

namespace {

// A handler can reach nothing but static memory.
volatile sig_atomic_t stop_signal = 0, save_wanted = 0;

void on_stop(int signal) {
  if (signal == SIGINT && stop_signal == SIGINT) _exit(128 + signal);
  stop_signal = signal;
}
void on_save(int) { save_wanted = 1; }

void install(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

}  // namespace

SignalWatch::SignalWatch() {
  stop_signal = 0;
  save_wanted = 0;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) install(signal, on_stop);
  install(SIGUSR1, on_save);
  install(SIGPIPE, SIG_IGN);
}

SignalWatch::~SignalWatch() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE}) install(signal, SIG_DFL);
}

int SignalWatch::stop() const { return stop_signal; }

bool SignalWatch::take_save() {
  const bool wanted = save_wanted;
  save_wanted = 0;
  return wanted;
}

}  // namespace tx
