#include "lib/ranks/mpi/calls.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/workers.h"
#include "lib/ranks/communicator.h"

namespace tx::mpi {

namespace {

constexpr int limit = 120;       // seconds
constexpr int others_later = 5;  // seconds: rank 0 reports first, then mpirun ends the others

}  // namespace

std::mutex& lock() {
  static std::mutex only;
  return only;
}

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(std::string(call) + ": " + text);
}

StartLimit::StartLimit(const std::string& tool) {
  thread_ = start_without_signals(failure_, [this, tool] {
    constexpr int turns = 20;  // a second
    const int rank = started_rank();
    for (int turn = 0; turn < turns * (limit + (rank > 0 ? others_later : 0)); ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1000 / turns));
      if (over_) return;
    }
    Log(tool).error(name_of_rank(rank, this_host()) + " waited " + std::to_string(limit) +
                    " s for the other ranks to start: one of them ended, is stopped, or cannot be "
                    "reached");
    ::_exit(1);
  });
}

StartLimit::~StartLimit() {
  over_ = true;
  thread_.join();
}

std::thread start_without_signals(FirstError& failure, const std::function<void()>& body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread started;
  FirstError refused;
  refused.run([&] { started = start_thread(failure, body); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  refused.rethrow();
  return started;
}

}  // namespace tx::mpi
