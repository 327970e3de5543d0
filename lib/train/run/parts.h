// The parts of a training, put together in the order in which they need each other, and the memory
// that they take. Nothing is written yet.
#pragma once
#include <memory>

#include "lib/train/options/options.h"
#include "lib/train/ranks/leader.h"
#include "lib/train/run/checkpointer.h"
#include "lib/train/run/data.h"
#include "lib/train/run/progress.h"
#include "lib/train/run/spike_policy.h"
#include "lib/train/run/state.h"
#include "lib/train/run/validator.h"
#include "lib/train/step/feed.h"
#include "lib/train/step/plan.h"
#include "lib/train/step/valid_pass.h"

namespace tx {

struct TrainingParts {
  static constexpr int64_t begin = -1;

  // Of a run that begins, or of one that goes on from its checkpoint of step `resume_at`, which is
  // loaded. `config`, which becomes config.json, gets what was chosen here. The options outlive it;
  // their steps, schedule and saves may still change. Throws what its parts throw, and an Error
  // where memory is refused.
  TrainingParts(const TrainOptions& options, RunDirectory run, TrainingData data, int64_t resume_at,
                const Json& config, const Log& log, Leader leader = {});
  TrainingParts(const TrainingParts&) = delete;
  TrainingParts& operator=(const TrainingParts&) = delete;

  Leader leader;  // of the ranks that share the steps
  RunDirectory run;
  Json config;
  Vocabularies vocabularies;
  Corpora corpora;
  Backend backend;
  // The whole model. Where layers lie on several ranks it is what files hold, and `part` is what
  // this rank computes with, else null.
  std::unique_ptr<Parameters> parameters, part;
  Parameters& trained() const { return part ? *part : *parameters; }
  // The worst batch goes through the model, so that a lack of memory shows before the first step;
  // once, however often this is called.
  void rehearse();
  Moments whole_moments() const {  // of the whole model
    return part ? parameters->moments() : stepper->whole_moments();
  }
  std::unique_ptr<Transformer> transformer;
  std::unique_ptr<TranslationScorer> scorer;  // null: no metric translates
  std::vector<std::string> translated;        // the lines that it translates
  std::unique_ptr<Feed> feed;
  std::unique_ptr<ValidPass> valid_pass;  // null: there is no validation text
  std::unique_ptr<Stepper> stepper;
  ProgressLog progress;
  SpikePolicy spikes;
  Validator validator;
  TrainState state;
  Json provenance;      // of every model; step and tokens are filled in
  struct Former {       // of the run that is resumed
    int64_t step = -1;  // of its checkpoint; -1: this run begins
    int64_t best = -1;  // the best step by its own criterion; -1: none
    int keep = 0;
  } former;
  std::unique_ptr<Checkpointer> checkpoints;  // the last member: its thread reads the others

 private:
  bool rehearsed_ = false;
  void tune(bool measure, const Log& log);
  size_t kept_bytes() const;
  void build_model(const TrainOptions& options, int64_t resume_at);
  void build_scorer(const TrainOptions& options, const MakeTranslationScorer& make);
  void build_feed(const TrainOptions& options, const PlannedRun& planned);
  void load(int64_t step, const Log& log);
  void reserve(const TrainOptions& options, const PlannedRun& planned, bool resumed,
               const Log& log);
  int longest_sentence(int growth) const;
};

// Members of a model's provenance that a resumed run gives again: no times, no host.
Json provenance_of(const TrainOptions& options, const Json& config, const IdCache& text);

}  // namespace tx
