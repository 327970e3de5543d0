// The checkpoints of a run: when one is due, how it is written, which stay. A save happens in this
// order: model, then what scores it, state, links, pruning; a crash between any two leaves the last
// complete pair of model and state in place. Where the device has memory of its own, a save is
// written while training goes on (lib/train/run/saver.h).
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "lib/base/log.h"
#include "lib/train/run/data.h"
#include "lib/train/run/run_directory.h"
#include "lib/train/run/saver.h"

namespace tx {

class Checkpointer {
 public:
  // What a save writes but for the parameters, as it is when the save begins.
  struct Content {
    int64_t step;
    Json provenance;  // of the model
    Json state;       // TrainState::to_json()
    int64_t best;     // the best model's step; -1: there is none yet
    int64_t good;     // weights of steps before this one are known to be good
  };
  using WriteState = std::function<void(const Content& content)>;
  // Scores the model that was just written and calls `write_state` with what the score makes of the
  // state, before it returns or throws; where it does not, the checkpoint is not complete.
  using Score = std::function<void(const WriteState& write_state)>;
  using Saved = std::function<void(int64_t step)>;
  using Clock = std::function<double()>;  // seconds since any moment

  // finish_save() calls `saved` for each save that succeeded. Run directory, parameters,
  // vocabularies and options outlive this. `config`: config.json, which tells the schedules that
  // the run had before. `gather`: as of Saver.
  Checkpointer(const RunDirectory& run, const Parameters& parameters,
               const Vocabularies& vocabularies, const SaveOptions& options, const Json& config,
               Saved saved, Saver::Gather gather = {}, Clock clock = steady_seconds);

  // Whether --save-minutes have passed since the last save.
  bool overdue() const;
  // Whether the schedule asks for a checkpoint at this step, which is the present one.
  bool due(int64_t step) const;
  // The newest checkpoint before this step that is whole and that --save-every asks for; -1: there
  // is none. What a signal or the clock saved does not count: a run that was stopped goes back as
  // far as one that was not.
  int64_t newest_on_schedule(int64_t step) const;

  // Begins a save; where a thread writes it, training goes on at once. The save before is finished.
  void save(const Content& content);
  // Saves with a score, which is waited for: it is part of the state and may end the run.
  void save_scored(const Content& content, const Score& score);
  // The same for a model that is whole and whose state lacks its score.
  void score_again(int64_t step, const Score& score);
  // Waits for the save under way, if there is one, and throws what it threw: one that failed leaves
  // the checkpoint before it, and what was written of it is removed, unless model and state are
  // whole.
  void finish_save();
  void poll();  // finish_save() where it need not wait
  // finish_save() for a run that has failed: its own error is the one to report, and what this
  // returns is appended to it. "" where the save succeeded.
  std::string finish_failed();

  int64_t saved() const { return saved_; }  // step of the checkpoint to go on from; -1: none
  // The run goes on from its checkpoint of `step`. It may have been killed before it set the links
  // and pruned: that is done now. `keep` may be more than that of the options.
  void resume(int64_t step, int64_t best, int64_t good, int keep);
  // The checkpoint of `step` is the last from here on, and later ones are removed. best as above.
  void go_back(int64_t step, int64_t best);

  // Says how much room the checkpoints will need, and warns where there is less.
  void tell_room(const Log& log) const;
  // What of the run is left when it fails, and how to go on.
  std::string way_back() const;

 private:
  static double steady_seconds();
  void begin(int64_t step, Saver::Write write);
  std::string write_model(const Parameters& parameters, const Content& content) const;
  void write_state(const Parameters& parameters, const Moments& moments, const Content& content,
                   const std::string& checksum);
  void prune(int64_t step, int64_t best, int64_t good, int keep) const;
  bool on_schedule(int64_t step) const;

  const RunDirectory& run_;
  const Parameters& parameters_;
  const Vocabularies& vocabularies_;
  const SaveOptions& options_;
  // Of a run that was resumed with another schedule: its --save-every up to that step, in order.
  struct Former {
    int64_t until, every;
  };
  std::vector<Former> former_;
  Saved tell_saved_;
  Clock clock_;
  double last_save_;  // by the clock
  int64_t saved_ = -1;
  int64_t saving_ = -1;  // step of the save under way; -1: there is none
  int64_t whole_ = -1;   // step of the last save whose model and state were written
  Saver saver_;          // the last member: its thread reads the others
};

}  // namespace tx
