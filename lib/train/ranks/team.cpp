#include "lib/train/ranks/team.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/cli/options.h"

namespace tx {

namespace {

// Results are those of rank 0.
void close_standard_output() {
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing >= 0) ::dup2(nothing, 1);
  if (nothing > 1) ::close(nothing);
}

// A rank that cannot reach the others leaves it to rank 0 to say so, which most often has the same
// trouble; what started the ranks then ends this one.
constexpr auto turn_of_rank_0 = std::chrono::seconds(2);

}  // namespace

World* Team::join() {
  if (world_ || started_ranks() <= 1) return world_.get();
  world_ = join_ranks(tool_);
  const RankCard &own = world_->cards()[size_t(world_->rank())], &first = world_->cards()[0];
  if (std::strcmp(own.version, first.version) != 0)
    throw Error(std::string(own.version) + ", but rank 0 has " + first.version);
  world_->barrier();
  return world_.get();
}

bool Team::left_to_rank_0() {
  if (started_ranks() <= 1) return false;
  const bool other = follows();
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) ::unsetenv(name);
  alone_ = true;
  return other;
}

// In a handler of exceptions.
int Team::fail() {
  const Log log(tool_);
  Failure failure = describe_failure(std::current_exception(), tool_);
  const int rank = started_rank();
  const std::string prefix = name_of_rank(rank, this_host()) + ": ";
  if (!world_) {
    try {
      world_ = join_ranks(tool_);
    } catch (const Error& e) {
      if (rank > 0) std::this_thread::sleep_for(turn_of_rank_0);
      log.error(prefix + (failure.status == 2 ? failure.message : e.what()));
      return failure.status;
    }
  }
  const bool of_the_run = failure.status != 2 && !world_->failed_elsewhere();
  if (rank == 0) log.error((of_the_run ? prefix : "") + failure.message);
  return world_->end(failure.status, failure.message);
}

int run_as_rank(const char* tool, const std::function<int(Team&)>& body) {
  Team team(tool);
  if (started_ranks() <= 1) return body(team);
  if (follows()) close_standard_output();
  try {
    return body(team);
  } catch (...) {
    if (team.alone_) throw;
    return team.fail();
  }
}

}  // namespace tx
