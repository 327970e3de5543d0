// The checkpoints of a run: when one is due, how it is written, which are kept. A save writes
// model, score of --valid-command, training state and links, in this order, then prunes. A crash
// between any two leaves the last complete pair of model and training state.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/base/log.h"
#include "lib/checkpoint/saver.h"
#include "lib/subword/vocabulary.h"
#include "lib/train/input/run_directory.h"
#include "lib/train/options/options.h"

namespace tx {

// What a stop left undone at a step; a resumed run does it first.
enum class Unfinished {
  nothing,
  validation,  // the model has not been validated
  score        // --valid-command has not scored the saved model
};

// The counters of the training state, tx-run(5).
struct TrainState {
  int64_t step = 0;     // the last one taken
  int64_t skipped = 0;  // updates skipped so far
  int64_t tokens = 0;   // tokens read so far, over all sides
  Unfinished unfinished = Unfinished::nothing;

  // The object of the state file: the counters, then `parts`, the members that SpikePolicy,
  // Validator and Feed keep (their state()), then `unfinished`.
  Json to_json(const Json& parts) const;
  // The counters of that object. Throws Json::exception if one is missing, and DataError that
  // begins with `where` for an unknown value of `unfinished`.
  static TrainState from_json(const Json& state, const std::string& where);
};

class Checkpointer {
 public:
  // What a save writes besides the parameters, taken when the save begins.
  struct Content {
    int64_t step;
    Json provenance;        // of the model
    Json state;             // TrainState::to_json()
    int64_t best;           // step of the best model; -1: none yet
    int64_t good;           // weights of steps before this one are known to be good
    int64_t due_best = -1;  // step of the best model of the validations that were due: kept too
  };
  using WriteState = std::function<void(const Content& content)>;
  // Scores the model just written and calls `write_state` with a content that has the score, before
  // it returns or throws. Without that call the checkpoint is incomplete.
  using Score = std::function<void(const WriteState& write_state)>;
  using Saved = std::function<void(int64_t step)>;
  using Clock = std::function<double()>;  // seconds, from any origin

  // finish_save() calls `saved` for each save that succeeded. The references outlive this, but for
  // `config`: config.json, with the earlier values of --save-every. `gather`: see Saver.
  Checkpointer(const RunDirectory& run, const Parameters& parameters,
               const Vocabularies& vocabularies, const TrainOptions& options, const Json& config,
               Saved saved, Saver::Gather gather = {}, Clock clock = steady_seconds);

  // Whether --save-minutes have passed since the last save.
  bool overdue() const {
    return options_.save_minutes > 0 && clock_() - last_save_ >= 60 * options_.save_minutes;
  }
  // Whether a checkpoint is due at this step, which is the current one.
  bool due(int64_t step) const {
    return options_.save_every > 0 ? step % options_.save_every == 0 : overdue();
  }
  // The newest complete checkpoint of --save-every before this step; -1: none. Those of a signal or
  // the clock do not count: a run that was stopped rewinds as far as any other.
  int64_t newest_on_schedule(int64_t step) const;

  // Begins a save, after finishing the previous one; on a GPU it is written in the background.
  void save(const Content& content);
  // Saves and waits for the score, which is part of the state and may end the run.
  void save_scored(const Content& content, const Score& score);
  // Scores a model that is complete but whose state lacks the score.
  void score_again(int64_t step, const Score& score);
  // Waits for the save in progress, if any, and throws what it threw. A save that failed keeps the
  // previous checkpoint and removes what it wrote, unless model and state are complete.
  void finish_save();
  void poll() {  // finish_save() if it need not wait
    if (saver_.done()) finish_save();
  }
  // finish_save() of a failed run: the text to append to the run's own error; "" if it succeeded.
  std::string finish_failed();

  int64_t saved() const { return saved_; }  // step of the checkpoint to resume from; -1: none
  // Continues from the checkpoint of `step`. Sets the links and prunes, which a killed run may not
  // have done. `keep`: the run's previous --keep, which may be larger than the current one.
  void resume(int64_t step, int64_t best, int64_t good, int keep, int64_t due_best = -1);
  // Makes the checkpoint of `step` the last one and removes later ones. best: as above.
  void go_back(int64_t step, int64_t best);

  // Logs how much disk space the checkpoints need, and warns if there is less.
  void report_disk_space(const Log& log) const;
  // For the message of a run that failed: which checkpoint is complete, and how to resume.
  std::string resume_hint() const;

 private:
  void begin(int64_t step, Saver::Write write);
  std::string write_model(const Parameters& parameters, const Content& content) const;
  void write_state(const Parameters& parameters, const OptimizerState& optimizer,
                   const Content& content, const std::string& checksum);
  void link_and_prune(int64_t step, int64_t best, int64_t good, int keep, int64_t due_best) const;
  bool on_schedule(int64_t step) const;

  const RunDirectory& run_;
  const Parameters& parameters_;
  const Vocabularies& vocabularies_;
  const TrainOptions& options_;
  // Earlier values of --save-every, in order, each with the last step it applied to.
  struct Former {
    int64_t until, every;
  };
  std::vector<Former> former_;
  Saved on_saved_;
  Clock clock_;
  double last_save_;  // by the clock
  int64_t saved_ = -1;
  int64_t saving_ = -1;    // step of the save in progress; -1: none
  int64_t complete_ = -1;  // step of the last save whose model and state were written
  Saver saver_;            // the last member: its thread reads the others
};

}  // namespace tx
