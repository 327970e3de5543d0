// A running training: session_build.cpp puts the parts together, session.cpp loops, checkpoint.cpp
// validates and saves, incident.cpp deals with steps that went wrong.
#pragma once
#include <chrono>
#include <memory>

#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/state_file.h"
#include "lib/train/data.h"
#include "lib/train/plan.h"
#include "lib/train/progress.h"
#include "lib/train/run_directory.h"
#include "lib/train/saver.h"
#include "lib/train/schedule.h"
#include "lib/train/signals.h"
#include "lib/train/spike_policy.h"
#include "lib/train/step.h"
#include "lib/train/validator.h"

namespace tx {

// A run that has ended for good: to go on from its last checkpoint would lead to the same end.
struct Diverged : DataError {
  using DataError::DataError;
};

class Session {
 public:
  // resume_at: the step of an existing run's checkpoint that is loaded; begin: a run from its
  // start.
  static constexpr int64_t begin = -1;
  Session(const TrainOptions& options, RunDirectory run, TrainingData data, int64_t resume_at,
          const Json& config, const Log& log);
  int loop();  // the exit status

 private:
  void tune();
  void keep_tuning();
  void check_new_limit(size_t planned) const;
  void start_profile();
  void build_model(int64_t resume_at);
  void build_scorer(const MakeTranslationScorer& make);
  MemoryBeside beside() const;
  void build_packer();
  int64_t epoch_tokens() const;
  int growth() const;            // how many times as long as usual a training sentence can be
  int longest_sentence() const;  // pieces with <eos>, over all sides and texts
  void load(int64_t step);
  bool finished() const;
  bool on_schedule(int64_t step) const;
  void steps(SignalWatch& signals);  // all there are
  void one_step();
  void read_ahead();
  int64_t count_step();  // its tokens
  void incident();
  void tell_incident(const SpikeDecision& decision, const std::string& flight);
  std::string record_flight(int64_t number);
  int64_t earlier_checkpoint() const;
  [[noreturn]] void give_up(const std::string& why, int64_t before);
  void go_back(int64_t to);
  void after_step(bool save_wanted);
  void end(int signal);
  void log(Json line) { progress_.write(std::move(line)); }
  bool due(int64_t every) const { return every > 0 && step_ % every == 0; }
  void checkpoint();  // of the schedule: validates, saves, scores
  void save(bool scored);
  void settle();
  std::string way_back() const;
  struct Snapshot;
  Snapshot snapshot() const;
  std::string write_model(const Parameters& parameters, const Snapshot& now) const;
  void write_scored(const Parameters& parameters, const std::string& checksum);
  void score_again();
  void write_state(const Parameters& parameters, const Snapshot& now, const std::string& checksum);
  void tidy(int64_t step, int64_t best, int64_t good, int keep) const;
  int64_t good_before() const;
  void check_weights();
  void tidy_resumed();
  void judge_anew();
  void check_room() const;
  bool judge();  // false, and nothing is known, where a stop came
  bool validate();
  Json state() const;
  void restore(const Json& state);
  Json provenance() const;
  double seconds() const { return progress_.seconds(); }
  void report_end();
  void report_profile();

  const TrainOptions& options_;
  const Log& log_;
  RunDirectory run_;
  Json config_;
  Vocabularies vocabularies_;
  Corpora corpora_;
  Backend backend_;
  std::unique_ptr<Parameters> parameters_;
  std::unique_ptr<Transformer> transformer_;
  std::unique_ptr<TranslationScorer> scorer_;  // null: no metric translates
  std::unique_ptr<Stepper> stepper_;
  std::unique_ptr<PairDropout> bpe_dropout_;  // null: none
  std::unique_ptr<Packer> packer_;            // behind the batches of the last step
  std::unique_ptr<Packer> ahead_;             // behind next_; null: nothing is read ahead
  std::vector<int> capacities_;
  size_t program_ = 0;  // bytes in use before the model's
  Schedule schedule_;
  std::vector<Batch> batches_, next_;
  StepRecord record_;  // of the last step
  ProgressLog progress_;
  std::chrono::steady_clock::time_point last_save_;
  const SignalWatch* signals_ = nullptr;  // that of loop()

  int64_t rewind_to_ = -1;  // where the step that just ended sends the run
  Json pending_;            // the line of the log about it, written there

  // The state file holds these.
  SpikePolicy spikes_;
  int64_t step_ = 0, skipped_ = 0, tokens_ = 0, saved_step_ = -1;
  Validator validator_;
  int64_t former_best_ = -1;  // of the run that is resumed, by its own criterion
  std::string unfinished_;    // what a stop left undone of step_: "score", "validation" or ""
  bool again_ = false;        // the end of step_ is done again, after such a stop

  int64_t saving_step_ = -1;      // of the save that is under way; -1: none is
  int64_t whole_step_ = -1;       // of the last save whose model and state were written
  std::unique_ptr<Saver> saver_;  // the last member: its thread reads the others
};

}  // namespace tx
