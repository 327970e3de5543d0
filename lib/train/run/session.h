// A run on rank 0: the training loop and what is recorded of it (session.cpp); and what happens
// when a run is resumed or something goes wrong (session_recovery.cpp).
#pragma once
#include <exception>
#include <optional>
#include <string>

#include "lib/base/error.h"
#include "lib/train/run/checkpointer.h"
#include "lib/train/run/progress.h"
#include "lib/train/run/run.h"
#include "lib/train/run/signals.h"
#include "lib/train/run/spike_policy.h"
#include "lib/train/run/validator.h"

namespace tx {

// The training diverged. Resuming from the last checkpoint would diverge again.
struct Diverged : DataError {
  using DataError::DataError;
};

class Session {
 public:
  // Of a new run, whose weights are those of Run::initialise(). `config` becomes config.json, with
  // what Run chose. Options, run and log outlive it. Error for lack of memory.
  Session(const TrainOptions& options, RunDirectory directory, const Json& config, Run& run,
          const Log& log);
  // Continues a run from its checkpoint of `step` instead.
  void resume(int64_t step);
  // Trains until a limit, --patience or a signal; ends the other ranks. Returns the exit status.
  int run();

 private:
  // What is recorded of the current step.
  enum class Stage {
    unsaved,
    unscored,  // saved by a signal or the clock, or not validated because the run was stopped
    recorded,  // saved, validated and scored as far as that was due
    ending     // no further step follows
  };

  void prepare();
  void train(bool validates_first);
  std::string limit_reached() const;
  bool validate();
  bool measure();
  bool counts() const;
  void save(bool scored);
  void score(const Checkpointer::WriteState& write_state);
  Checkpointer::Content content() const;
  void end();
  void report();
  void report_result() const;

  // session_recovery.cpp
  bool bad_step(StepRecord& record);
  std::string record_flight(int64_t number, const StepRecord& record);
  void go_back(int64_t step, const Json& line);
  int64_t good_before() const;
  void check_weights();
  void save_unvalidated(const std::exception_ptr& failure);
  void check_time();
  [[noreturn]] void give_up(const std::string& why, int64_t before);

  const TrainOptions& options_;
  const Log& log_;
  RunDirectory directory_;
  Json config_;
  Run& run_;
  ProgressLog progress_;
  SpikePolicy spikes_;
  Validator validator_;
  TrainState state_;
  Json provenance_;  // of every model, without step and tokens
  Checkpointer checkpoints_;
  std::optional<SignalWatch> signals_;  // of run()
  std::optional<double> train_nll_;     // per label, of the last step
  Stage stage_ = Stage::unsaved;
};

}  // namespace tx
