// One optimizer step: forward and backward of its batches, gradient norm, update. Owns the batch on
// the device, the arena and the step record; the caller owns the parameters.
#pragma once
#include <memory>

#include "lib/data/packing.h"
#include "lib/model/transformer.h"
#include "lib/ranks/communicator.h"
#include "lib/train/step/device_batch.h"
#include "lib/train/step/tree_sum.h"
#include "lib/train/step/update.h"

namespace tx {

struct StepTimes {  // seconds
  double forward = 0, backward = 0, update = 0;
};

// With tensor parallelism the shards make the same calls but for optimizer state and weights.
class Stepper {
 public:
  // The arguments outlive it. UsageError if the model lacks the head of --guided-head.
  Stepper(Backend& backend, Parameters& parameters, const Transformer& transformer,
          const TrainOptions& options);
  ~Stepper() { backend_->release(record_); }

  // Arena bytes for batches of these capacities (one per side), measured with a counting arena.
  static size_t plan(Backend& backend, Parameters& parameters, const Transformer& transformer,
                     const TrainOptions& options, const std::vector<int>& capacities);
  // Allocates the arena, and the partial sums of a step of `batches`.
  void reserve(size_t arena_bytes, int batches = 1);

  // Makes every step collective: each rank calls step() or launch() with the same batches, computes
  // its share of them, and ends with the same weights and record, and its shards of the gradients.
  // Call it before reserve().
  void share(Communicator& ranks);

  // A whole step over `batches`, whose gradients and losses TreeSum adds; returns the record (sums,
  // norm, skip). The update is not applied (skip) if loss or gradients are not finite, or if the
  // mean loss per target exceeds `loss_limit` (0: no limit), which also sets `spike`.
  StepRecord step(const std::vector<Batch>& batches, int64_t number, double rate,
                  double loss_limit);
  // The same in two parts; the GPU computes meanwhile. `batches` is not used after launch().
  void launch(const std::vector<Batch>& batches, int64_t number, double rate, double loss_limit);
  StepRecord finish();
  // Optionally between the two: uploads the first of the next step's batches of this rank.
  void prepare(const std::vector<Batch>& batches);
  // Applies the update that the loss limit held back, bit-identically; returns the new record.
  StepRecord release(StepRecord record);
  // Forward and backward of a dummy batch: allocates all memory of a step and changes no result.
  // Collective; several ranks also start to exchange gradients during backward.
  void rehearse(const Batch& batch);
  // Adds the loss sums of a batch, without dropout and gradients, to `sums`.
  void evaluate(const Batch& batch, StepRecord& sums);
  // Whether every weight is finite. Call it between two steps.
  bool weights_finite();

  // The optimizer state of all ranks as whole blocks, on rank 0. With several ranks these are
  // buffers of a step: call collect_optimizer_state() before reading them and
  // spread_optimizer_state() after writing them, both before the next step.
  OptimizerState whole_optimizer_state();
  // Collective; with one rank they do nothing.
  void collect_optimizer_state();
  void spread_optimizer_state();
  void spread_weights();     // broadcast from rank 0
  void gather_gradients() {  // of the last step, to all ranks
    if (shards_) shards_->gather(parameters_.gradients());
  }
  Json gradient_norms();  // Update::gradient_norms() of the last step; collective
  const StepTimes& times() const { return times_; }

 private:
  enum class Work { evaluate, train, update };
  CrossGuide guide() const;
  void upload(const Batch& batch, Work work);
  void micro(const Batch& batch, Work work, const std::function<void()>& after_closure = {});
  void add(const std::vector<Batch>& batches, TermRange range, bool last = false);
  void add_last(const Batch& batch);
  void rehearse_order(const Batch& batch);
  void update();
  void run(Work work, int64_t sentences, const std::function<void()>& f);  // as replay()

  Backend& backend_;
  Parameters& parameters_;
  const Transformer& transformer_;
  const TrainOptions& options_;
  TrainOptions::GuidedHead guided_;
  std::unique_ptr<Arena> arena_;
  DeviceBatch batch_;
  StepRecord* record_;  // in the backend's memory
  TreeSum sum_;
  Update update_;
  std::unique_ptr<Mover> mover_;  // these three are null with a single rank
  std::unique_ptr<Shards> shards_;
  std::unique_ptr<RankSum> rank_sum_;
  std::unique_ptr<RoundOrder> order_;  // recorded by rehearse(); null: no overlap
  StepTimes times_;
  std::vector<const void*> places_;  // addresses of the batches that recorded graphs read
};

}  // namespace tx
