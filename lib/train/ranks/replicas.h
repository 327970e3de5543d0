// The processes that train one model together, its ranks. Rank 0 builds the text cache, validates,
// logs, saves and decides; the others hold the same weights and batches and their shards of the
// optimizer state, and do what it broadcasts. A single process is rank 0: every call works there.
//
// With tensor parallelism over T ranks, rank t + T d holds tensor-parallel shard t of the model and
// share d of a step's batches. The ranks of one share exchange activations inside a layer; the
// ranks of one shard sum gradients and divide the optimizer state, as ranks with whole models do.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "lib/model/division.h"
#include "lib/model/tensor_parallel.h"
#include "lib/ranks/communicator.h"
#include "lib/train/options/options.h"

namespace tx {

// A call of Run (lib/train/run/run.h) that rank 0 broadcasts and all ranks make.
struct RankCall {
  int32_t method = 0;            // its place in the table of these methods
  bool optimizer_state = false;  // the argument of Run::spread()
  int64_t number = 0;            // the arguments of Run::step()
  double rate = 0, loss_limit = 0;
};

class Replicas {
 public:
  // `all` outlives it; null: a single process. UsageError on rank 0 if the options do not allow
  // this number of ranks. --tensor-parallel is taken from rank 0.
  Replicas(World* all, const TrainOptions& options);

  int count() const { return all_ ? all_->size() : 1; }
  bool leads() const { return !all_ || all_->rank() == 0; }
  bool divided() const { return parts_ != nullptr; }  // tensor-parallel
  ModelShard part() const;
  RankOf share() const;  // of a step's batches
  World* all() const { return all_; }
  // The ranks with this tensor-parallel shard; null if only this one.
  Communicator* sharers() const;

  std::string agree(std::string bytes) const;  // returns rank 0's `bytes` on all ranks
  void broadcast(RankCall call) const;         // broadcasts from rank 0; no effect on others
  RankCall receive() const;                    // receives it, on the others
  void stop_translating() const;               // on rank 0, from any thread
  bool stop_received() const;                  // on the others

 private:
  World* all_;
  std::unique_ptr<Communicator> parts_, sharers_;  // null without tensor parallelism
};

// One rank of a job of mpirun or srun, which ends with one error message and one exit status.
class Job {
 public:
  explicit Job(std::string tool) : tool_(std::move(tool)) {}
  // Connects all ranks; null for one process. Error on a rank whose version of tx is not rank 0's.
  World* join();
  // For modes of one process: removes MPI's variables from the environment, so that rank 0 and its
  // child processes run as single ones. True on the other ranks, which must exit.
  bool left_to_rank_0();

 private:
  friend int run_as_rank(const char* tool, const std::function<int(Job&)>& body);
  int fail();
  std::string tool_;
  std::unique_ptr<World> world_;
  bool alone_ = false;  // left_to_rank_0() was called: no other rank waits for this one
};

// Runs `body` within run_tool() in a tool that supports several ranks. If it throws on a rank, or a
// rank is lost, the whole job ends, and rank 0 prints why, with number and host of that rank.
// Returns the exit status. Rethrows on rank 0 after left_to_rank_0().
int run_as_rank(const char* tool, const std::function<int(Job&)>& body);

}  // namespace tx
