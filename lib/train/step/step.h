// One optimiser step: batches forward and backward, norm, update. Owns the device's copy of the
// batch, the arena and the step record; the model's parameters belong to the caller.
#pragma once
#include <memory>

#include "lib/data/packing.h"
#include "lib/model/transformer.h"
#include "lib/ranks/communicator.h"
#include "lib/train/ranks/rank_sum.h"
#include "lib/train/step/device_batch.h"
#include "lib/train/step/update.h"

namespace tx {

struct StepTimes {  // seconds
  double forward = 0, backward = 0, update = 0;
};

// Where the parameters are a part of a model, the Steppers of all parts make the same calls, but
// for those about moments and weights.
class Stepper {
 public:
  // All four outlive it. UsageError where the model has no such head as the options want guided.
  Stepper(Backend& backend, Parameters& parameters, const Transformer& transformer,
          const TrainOptions& options);
  ~Stepper();

  // Arena bytes of a batch with these capacities (one per side), found on a counting arena.
  static size_t plan(Backend& backend, Parameters& parameters, const Transformer& transformer,
                     const TrainOptions& options, const std::vector<int>& capacities);
  // `batches`: of a step; their partial sums have room, too.
  void reserve(size_t arena_bytes, int batches = 1);

  // From here on every step is one of all ranks, which the parameters are divided among: each calls
  // step() or launch() with the same batches, computes its share of them, and has the same weights
  // and record behind it; of the gradients it has its shards. Before reserve().
  void share(Communicator& ranks);

  // A whole step over `batches`, whose gradients and losses are added as TreeSum does; returns the
  // record after it (sums, norm, skip). The update is held (skip) where loss or gradients are not
  // finite, and where the mean loss per label passes `loss_limit` (0: no limit), which sets `spike`
  // too.
  StepRecord step(const std::vector<Batch>& batches, int64_t number, double rate,
                  double loss_limit);
  // The same in two parts: between them a GPU computes, and the host is free. `batches` may go
  // after launch().
  void launch(const std::vector<Batch>& batches, int64_t number, double rate, double loss_limit);
  StepRecord finish();
  // Between the two, with the batches of the next step: uploads the first that this rank computes,
  // behind the work of the present step, so that the next need not wait for it. Changes no result.
  void prepare(const std::vector<Batch>& batches);
  // Makes up for the update that the last step held for its loss: the bits are those of a step
  // without a limit. Returns the record after it.
  StepRecord release(StepRecord record);
  // Forward and backward of a batch that nothing is learned from: after it all memory of a step is
  // in use, and the step that follows is the same as without it. Of several ranks all do it, or
  // none; those that have move gradients beside the backward pass from then on.
  void rehearse(const Batch& batch);
  // Loss sums of a batch without masks and gradients, added to `sums`.
  void evaluate(const Batch& batch, StepRecord& sums);
  // Whether every weight is finite; between two steps.
  bool weights_finite();

  // The moments of all ranks, whole blocks, on rank 0. With several ranks they are memory of a
  // step: what is to be read there is collected first, what is written there goes to the ranks by
  // spread_moments(), both before the next step.
  Moments whole_moments();
  // Of all ranks, which call them together; with one rank they do nothing.
  void collect_moments();
  void spread_moments();
  void spread_weights();    // rank 0's
  void gather_gradients();  // of the last step: every rank has them all
  const StepTimes& times() const { return times_; }

 private:
  enum class Work { evaluate, train, update };
  CrossGuide guide() const;
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
  std::unique_ptr<Mover> mover_;  // these three null: this process stands alone
  std::unique_ptr<Shards> shards_;
  std::unique_ptr<RankSum> rank_sum_;
  std::unique_ptr<RoundOrder> order_;  // found by rehearse(); null: nothing is done beside
  StepTimes times_;
  std::vector<const void*> places_;  // of the batches that recorded work has read
};

}  // namespace tx
