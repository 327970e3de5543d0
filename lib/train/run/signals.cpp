#include "lib/train/run/signals.h"

#include <unistd.h>

#include <utility>

#include "lib/base/io.h"

namespace tx {
namespace {

// Signal handlers can only use static memory.
volatile sig_atomic_t stop_signal = 0, save_wanted = 0, child_group = 0;

void on_stop(int signal) {
  if (signal == SIGINT && stop_signal == SIGINT) {
    if (child_group > 0) ::kill(-child_group, SIGTERM);
    remove_temporaries();
    ::_exit(128 + signal);
  }
  stop_signal = signal;
}
void on_save(int) { save_wanted = 1; }

struct sigaction action_of(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  return action;
}

}  // namespace

SignalWatch::SignalWatch() {
  stop_signal = 0;
  save_wanted = 0;
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    ::sigaction(signal, nullptr, &before_[signal]);
    if (before_[signal].sa_handler == SIG_IGN) continue;
    const struct sigaction action = action_of(signal == SIGUSR1 ? on_save : on_stop);
    ::sigaction(signal, &action, nullptr);
  }
}

SignalWatch::~SignalWatch() {
  for (const auto& [signal, action] : before_) ::sigaction(signal, &action, nullptr);
}

int SignalWatch::stop() const { return stop_signal; }

bool SignalWatch::take_save() {
  const bool wanted = save_wanted;
  save_wanted = 0;
  return wanted;
}

void ignore_sigpipe() {
  const struct sigaction action = action_of(SIG_IGN);
  ::sigaction(SIGPIPE, &action, nullptr);
}

ChildWatch::ChildWatch(pid_t leader) { child_group = leader; }
ChildWatch::~ChildWatch() { child_group = 0; }

std::string signal_name(int signal) {
  for (const auto& [number, name] : {std::pair(SIGINT, "INT"), {SIGTERM, "TERM"}, {SIGHUP, "HUP"}})
    if (signal == number) return name;
  return std::to_string(signal);
}

}  // namespace tx
