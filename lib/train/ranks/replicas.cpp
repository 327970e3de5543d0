#include "lib/train/ranks/replicas.h"

#include "lib/base/error.h"
#include "lib/checkpoint/judgement.h"
#include "lib/train/ranks/rank_mover.h"

namespace tx {

namespace {

constexpr int stop_number = 1;  // of World::tell()

// What of the options cannot be had where layers lie on several ranks.
void check_parts(const TrainOptions& options, int ranks) {
  const int parts = options.tensor_parallel;
  if (parts == 1) return;
  const std::string option = "--tensor-parallel " + std::to_string(parts);
  if (ranks % parts != 0)
    throw UsageError(option + " needs a multiple of " + std::to_string(parts) +
                     " ranks, and there " + (ranks == 1 ? "is 1" : "are " + std::to_string(ranks)) +
                     ": start them with mpirun -n " + std::to_string(parts) +
                     ", or give --tensor-parallel 1");
  if (options.device != "cpu") throw UsageError(option + " is for processors: give --device cpu");
  if (!options.guided_alignment.empty())
    throw UsageError(option + " cannot be had with --guided-alignment");
  for (const std::string& metric : options.valid_metric)
    if (is_translated(metric))
      throw UsageError(option + " cannot be had with --valid-metric " + metric +
                       ": give --valid-command, which is handed the saved model");
}

void check_batches(const TrainOptions& options, int ranks) {
  const int parts = options.tensor_parallel, shares = ranks / parts;
  if (options.accumulate >= shares) return;
  throw UsageError("--accumulate " + std::to_string(options.accumulate) + " is less than the " +
                   std::to_string(shares) +
                   (parts == 1 ? " ranks" : " models that the ranks have") +
                   ", and each takes one of the batches of a step at least: give --accumulate " +
                   std::to_string(shares) + " or more, or start fewer ranks");
}

void check(const TrainOptions& options, const World* all) {
  check_parts(options, all ? all->size() : 1);
  if (!all) return;
  check_batches(options, all->size());
  if (options.device != "cuda") return;
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

ModelPart Replicas::part() const {
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

void Replicas::tell(RankOrder order) const {
  if (all_ && leads()) all_->broadcast(&order, sizeof order);
}

RankOrder Replicas::hear() const {
  RankOrder order;
  all_->broadcast(&order, sizeof order);
  return order;
}

void Replicas::stop_translating() const {
  if (all_) all_->tell(stop_number);
}

bool Replicas::told_to_stop() const { return all_->told() == stop_number; }

}  // namespace tx
