// A training as rank 0 runs it: the loop, and what is recorded of it. session.cpp has the loop,
// session_start.cpp what it begins with, session_save.cpp says what is measured and saved and when,
// session_spike.cpp deals with steps that went wrong.
#pragma once
#include <optional>
#include <string>

#include "lib/base/error.h"
#include "lib/train/run/checkpointer.h"
#include "lib/train/run/progress.h"
#include "lib/train/run/run.h"
#include "lib/train/run/run_directory.h"
#include "lib/train/run/signals.h"
#include "lib/train/run/spike_policy.h"
#include "lib/train/run/state.h"
#include "lib/train/run/valid_command.h"
#include "lib/train/run/validator.h"

namespace tx {

// A run that has ended for good: to go on from its last checkpoint would lead to the same end.
struct Diverged : DataError {
  using DataError::DataError;
};

class Session {
 public:
  static constexpr int64_t beginning = -1;

  // Of a run that begins, or of one that goes on from its checkpoint of step `from`, which is
  // loaded. `config` becomes config.json and gets what was chosen here. Options, replicas and log
  // outlive it; steps, schedule and saves of the options may still change. Throws what its parts
  // throw, and an Error where memory is refused.
  Session(const TrainOptions& options, RunDirectory directory, const Json& config, RunSpec spec,
          const Replicas& replicas, const MakeTranslationScorer& scorer, int64_t from,
          const Log& log);
  // Where steps_by_minutes() (lib/train/options/schedule.h): as many steps as fit the time.
  // `options` are those of this session.
  void fit_to_minutes(TrainOptions& options, const Options& given);
  // Trains to the end that a limit, --patience or a signal sets, and ends the other ranks; returns
  // the exit status.
  int run();

 private:
  // Where a step that went wrong sends the run, and the line of the log about it.
  struct WayBack {
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
  std::optional<WayBack> step();
  void after_step(bool save_wanted);
  void finish_left_over();
  void end();
  void report();
  void tell_result() const;

  bool validation_due() const;
  void checkpoint();
  bool validate();  // false, and nothing is known, where a stop came
  bool measure();
  void compare_texts(double valid_nll);
  void save(bool scored);
  void score(const Checkpointer::WriteState& write_state);
  Checkpointer::Content content() const;
  int64_t good_before() const;
  void check_weights();

  std::optional<WayBack> incident(StepRecord& record);
  std::string record_flight(int64_t number, const StepRecord& record);
  void go_back(const WayBack& way);
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
  Json provenance_;     // of every model; step and tokens are filled in
  struct Former {       // of the run that is resumed
    int64_t step = -1;  // of its checkpoint; -1: this run begins
    int64_t best = -1;  // the best step by its own criterion; -1: none
    int keep = 0;
  } former_;
  Checkpointer checkpoints_;
  const SignalWatch* signals_ = nullptr;  // that of run()
  std::optional<double> train_nll_;       // per label, of the last step
  bool told_texts_ = false;               // compare_texts() has warned
  bool again_ = false;  // the end of the last step is done again, after a stop in it
};

}  // namespace tx
