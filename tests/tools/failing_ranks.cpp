// failing_ranks WHEN RANK, for tests/cli/tx-train/ranks_failures.sh: rank RANK (all if negative)
// fails at the moment WHEN, while the others wait at a barrier or rank 0 is busy.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/cli/options.h"
#include "lib/train/ranks/replicas.h"

namespace {

void fail_here() { throw tx::DataError("this was planned"); }

void busy() { ::sleep(60); }

void stop() {
  ::kill(::getpid(), SIGSTOP);
  ::_exit(0);  // mpirun sends SIGCONT before it kills a process
}

void long_busy() { ::sleep(26); }  // longer than the limit for a silent rank (pulse.h)

int run(const std::string& when, int failing, tx::Job& job) {
  const bool mine = failing < 0 || tx::started_rank() == failing;
  if (when == "before" && mine) fail_here();
  if (when == "usage" && mine) throw tx::UsageError("--this was planned");
  tx::World& ranks = *job.join();
  if (when == "joined" && mine) fail_here();
  ranks.barrier();
  const std::map<std::string, void (*)()> planned{{"later", fail_here},
                                                  {"rank-0-busy", fail_here},
                                                  {"killed", [] { ::raise(SIGKILL); }},
                                                  {"stopped", stop},
                                                  {"long", long_busy}};
  if (mine && planned.contains(when)) planned.at(when)();
  if (when == "rank-0-busy" && ranks.rank() == 0) busy();
  ranks.barrier();
  if (ranks.rank() == 0) tx::Log("failing_ranks").info("all is well");
  return 0;
}

}  // namespace

int main(int, char** argv) {
  return tx::run_tool("failing_ranks", [&] {
    return tx::run_as_rank("failing_ranks",
                           [&](tx::Job& job) { return run(argv[1], std::atoi(argv[2]), job); });
  });
}
