#include "lib/train/ranks/replicas.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/checkpoint/run_checkpoints.h"
#include "lib/cli/options.h"
#include "lib/train/ranks/shards.h"

namespace tx {
namespace {

constexpr int stop_number = 1;  // of World::send_number()

// Options that tensor parallelism does not support.
void check_parts(const TrainOptions& options, int ranks) {
  const int parts = options.tensor_parallel;
  if (parts == 1) return;
  const std::string option = "--tensor-parallel " + std::to_string(parts);
  if (ranks % parts != 0)
    throw UsageError(option + " needs a multiple of " + std::to_string(parts) + " ranks, not " +
                     std::to_string(ranks) + ": start mpirun -n " + std::to_string(parts) +
                     ", or give --tensor-parallel 1");
  if (options.device != Device::cpu) throw UsageError(option + " is CPU-only: give --device cpu");
  if (!options.guided_alignment.empty())
    throw UsageError(option + " is not supported with --guided-alignment");
  if (options.passes() > 1) throw UsageError(option + " is not supported with --consistency");
  if (options.optimizer == Optimizer::muon)
    throw UsageError(option + " is not supported with --optimizer muon: give --optimizer adam");
  for (const std::string& metric : options.valid_metric)
    if (is_translated(metric))
      throw UsageError(option + " is not supported with --valid-metric " + metric +
                       ": give --valid-command");
}

void check_batches(const TrainOptions& options, int ranks) {
  const int parts = options.tensor_parallel, shares = ranks / parts;
  if (options.accumulate >= shares) return;
  throw UsageError("--accumulate " + std::to_string(options.accumulate) + " is less than the " +
                   std::to_string(shares) + (parts == 1 ? " ranks" : " replicas of the model") +
                   ", each of which needs at least one batch per step: give --accumulate " +
                   std::to_string(shares) + " or more, or start fewer ranks");
}

void check(const TrainOptions& options, const World* all) {
  check_parts(options, all ? all->size() : 1);
  if (!all) return;
  check_batches(options, all->size());
  if (options.device != Device::cuda) return;
  choose_own_gpu(*all);
  const std::string reason = no_mover_reason();
  if (!reason.empty()) throw UsageError(reason);
}

}  // namespace

Replicas::Replicas(World* all, const TrainOptions& options) : all_(all) {
  if (leads()) check(options, all_);
  if (!all_) return;
  int count = options.tensor_parallel;
  all_->broadcast(&count, sizeof count);
  TX_ASSERT(count > 0 && all_->size() % count == 0);
  if (count == 1) return;
  parts_ = all_->split(all_->rank() / count);
  sharers_ = all_->split(all_->rank() % count);
}

ModelShard Replicas::part() const {
  if (!parts_) return {};
  return {parts_->rank(), parts_->size(), parts_.get()};
}

RankOf Replicas::share() const {
  if (!all_) return {};
  const Communicator& of = sharers_ ? *sharers_ : *all_;
  return {of.rank(), of.size()};
}

Communicator* Replicas::sharers() const {
  if (share().ranks == 1) return nullptr;
  return sharers_ ? sharers_.get() : all_;
}

std::string Replicas::agree(std::string bytes) const {
  if (!all_) return bytes;
  uint64_t size = bytes.size();
  all_->broadcast(&size, sizeof size);
  bytes.resize(size);
  all_->broadcast(bytes.data(), size);
  return bytes;
}

void Replicas::broadcast(RankCall call) const {
  if (all_ && leads()) all_->broadcast(&call, sizeof call);
}

RankCall Replicas::receive() const {
  RankCall call;
  all_->broadcast(&call, sizeof call);
  return call;
}

void Replicas::stop_translating() const {
  if (all_) all_->send_number(stop_number);
}

bool Replicas::stop_received() const { return all_->received_number() == stop_number; }

namespace {

// Only rank 0 prints results.
void close_standard_output() {
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing >= 0) ::dup2(nothing, 1);
  if (nothing > 1) ::close(nothing);
}

// Before a rank that cannot connect prints its error: rank 0 usually does, and mpirun ends all.
constexpr auto turn_of_rank_0 = std::chrono::seconds(2);

}  // namespace

World* Job::join() {
  if (world_ || started_ranks() <= 1) return world_.get();
  world_ = join_ranks(tool_);
  const RankCard &own = world_->cards()[size_t(world_->rank())], &first = world_->cards()[0];
  if (std::strcmp(own.version, first.version) != 0)
    throw Error(std::string(own.version) + ", but rank 0 runs " + first.version);
  world_->barrier();
  return world_.get();
}

bool Job::left_to_rank_0() {
  if (started_ranks() <= 1) return false;
  const bool other = follows();
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) ::unsetenv(name);
  alone_ = true;
  return other;
}

// Called in a catch block.
int Job::fail() {
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

int run_as_rank(const char* tool, const std::function<int(Job&)>& body) {
  Job job(tool);
  if (started_ranks() <= 1) return body(job);
  if (follows()) close_standard_output();
  try {
    return body(job);
  } catch (...) {
    if (job.alone_) throw;
    return job.fail();
  }
}

}  // namespace tx
