// A run on rank 0: the training loop, and what is recorded of it. Read session_start.cpp (building
// or loading it), session.cpp (the loop), session_save.cpp (validation and checkpoints), then
// session_spike.cpp (bad steps).
#pragma once
#include <optional>
#include <string>

#include "lib/base/error.h"
#include "lib/train/options/schedule.h"
#include "lib/train/run/checkpointer.h"
#include "lib/train/run/progress.h"
#include "lib/train/run/run.h"
#include "lib/train/run/run_directory.h"
#include "lib/train/run/signals.h"
#include "lib/train/run/spike_policy.h"
#include "lib/train/run/valid_command.h"
#include "lib/train/run/validator.h"

namespace tx {

// The training diverged. Resuming from the last checkpoint would diverge again.
struct Diverged : DataError {
  using DataError::DataError;
};

class Session {
 public:
  static constexpr int64_t beginning = -1;

  // Begins a run, or loads its checkpoint of step `from`. `config` becomes config.json, with the
  // values chosen here. Options, replicas and log outlive it; the options of steps, schedule and
  // saves may still change. Throws what its members throw, and Error if memory cannot be allocated.
  Session(const TrainOptions& options, RunDirectory directory, const Json& config, RunSpec spec,
          const Replicas& replicas, const MakeTranslationScorer& scorer, int64_t from,
          const Log& log);
  // For settle_length() (lib/train/options/settle.h) and check_course(): counts the steps of this
  // run's batches.
  CountSteps counter() const;
  // The options are not those of the constructor any more.
  void note(const Options& given) { config_["options"] = given.to_json(); }
  // For steps_by_minutes() (lib/train/options/schedule.h): measures some steps and sets the number
  // of steps that fit, and the schedule with it. `options` are those of this session. UsageError
  // if not even one step fits.
  void fit_to_minutes(TrainOptions& options, const Options& given);
  // Trains until a limit, --patience or a signal ends the run, and ends the other ranks. Returns
  // the exit status.
  int run();

 private:
  // The checkpoint to return to after a bad step, and the line of log.jsonl about it.
  struct Rewind {
    int64_t step;
    Json line;
  };

  void load(int64_t step);
  int train();
  void begin();
  void loop(SignalWatch& signals);
  bool finished() const;
  std::string limit_reached() const;
  bool resumed() const { return former_.step >= 0; }
  std::optional<Rewind> step();
  void after_step(bool save_wanted);
  void finish_interrupted();
  void end();
  void report();
  void report_result() const;

  bool validation_due() const;
  bool counts() const;
  void checkpoint();
  bool validate();  // false if a signal interrupted it
  bool measure();
  void compare_texts(double valid_nll);
  void save(bool scored);
  void score(const Checkpointer::WriteState& write_state);
  Checkpointer::Content content() const;
  int64_t good_before() const;
  void check_weights();

  std::optional<Rewind> incident(StepRecord& record);
  std::string record_flight(int64_t number, const StepRecord& record);
  void go_back(const Rewind& rewind);
  [[noreturn]] void give_up(const std::string& why, int64_t before);

  const TrainOptions& options_;
  const Log& log_;
  RunDirectory directory_;
  Json config_;
  ProgressLog progress_;
  SpikePolicy spikes_;
  Validator validator_;
  Run run_;
  TrainState state_;
  Json provenance_;         // of every model, without step and tokens
  struct Former {           // of a resumed run
    int64_t step = -1;      // of its checkpoint; -1: a new run
    int64_t best = -1;      // the best step by its own criterion; -1: none
    int64_t due_best = -1;  // of its validations that were due
    int keep = 0;
  } former_;
  Checkpointer checkpoints_;
  const SignalWatch* signals_ = nullptr;  // of train()
  std::optional<double> train_nll_;       // per label, of the last step
  bool texts_compared_ = false;           // compare_texts() has warned
  bool again_ = false;                    // resumed at this step, whose validation was interrupted
  bool unscored_ = false;                 // this step was saved by a signal or the clock
  bool ending_ = false;                   // no further step follows
};

}  // namespace tx
