// A running training: the loop over its parts. session.cpp has the loop, session_save.cpp says what
// is measured and saved and when, session_spike.cpp deals with steps that went wrong.
#pragma once
#include <optional>
#include <string>

#include "lib/base/error.h"
#include "lib/train/run/parts.h"
#include "lib/train/run/signals.h"
#include "lib/train/run/valid_command.h"

namespace tx {

// A run that has ended for good: to go on from its last checkpoint would lead to the same end.
struct Diverged : DataError {
  using DataError::DataError;
};

class Session {
 public:
  Session(TrainingParts& parts, const TrainOptions& options, const Log& log);
  // Trains to the end that a limit, --patience or a signal sets; returns the exit status.
  int run();

 private:
  // Where a step that went wrong sends the run, and the line of the log about it.
  struct WayBack {
    int64_t step;
    Json line;
  };

  void begin();
  void loop(SignalWatch& signals);
  bool finished() const;
  std::string limit_reached() const;
  bool resumed() const { return parts_.former.step >= 0; }
  std::optional<WayBack> step();
  void after_step(bool save_wanted);
  void finish_left_over();
  void end();
  void report() const;
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

  TrainingParts& parts_;
  const TrainOptions& options_;
  const Log& log_;
  TrainState& state_;
  Checkpointer& checkpoints_;
  const SignalWatch* signals_ = nullptr;  // that of run()
  std::optional<double> train_nll_;       // per label, of the last step
  bool told_texts_ = false;               // compare_texts() has warned
  bool again_ = false;  // the end of the last step is done again, after a stop in it
};

}  // namespace tx
