// Validation during training: the figures of each, the best step so far, and the validations since
// (for --patience), all part of the state file, tx-run(5). Models are compared by one criterion:
// the first metric of --valid-metric, or the score of --valid-command if given.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/view.h"
#include "lib/base/json.h"
#include "lib/data/cache.h"
#include "lib/train/options/options.h"

namespace tx {

struct Validation {
  double loss = 0, nll = 0, accuracy = 0;  // per target; loss with label smoothing, nll in nats
  double labels = 0;                       // number of targets
  std::map<std::string, double> translated = {};  // bleu and chrf, if selected
};

class Validator {
 public:
  // The scores of the translated metrics, in the order of --valid-metric; nothing if stopped.
  using Translate = std::function<std::optional<std::vector<double>>()>;

  // The options are resolved and outlive it. `text`: of a language model, for figures per word.
  explicit Validator(const TrainOptions& options, const TextTally& text = {})
      : options_(options), text_(text) {}

  // The criterion as text: "loss", "bleu of 1000 lines", "command: COMMAND".
  std::string criterion() const;
  static std::string criterion(const std::string& metric, const std::string& command);

  // Computes the figures of the model of `step` from the sums of ValidPass (lib/train/step/feed.h)
  // and from its translations, if a metric needs them. Without --valid-command it compares the
  // model with the best so far. Null, with no change, if translating was stopped. `due`: false for
  // the validation at the end of a run that was not due. Its model may be the best of the ended
  // run, but it does not count for --patience, and go_on() forgets it.
  const Validation* measure(int64_t step, const StepRecord& sums, const Translate& translate = {},
                            bool due = true);
  // "validation loss 2.3412, perplexity 8.123, accuracy 0.5512, bleu 21.30", for messages.
  std::string figures(const Validation& found) const;
  // A warning, the first time that the perplexity is much higher than that of the training text
  // (nll per label) although a model does not overfit so early: then the texts differ. Else "".
  std::string compare_texts(const Validation& found, double train_nll);
  // Language models: the nll of the whole text, ends included, per word and per byte.
  double word_perplexity(const Validation& found) const;
  double bits_per_byte(const Validation& found) const;
  // The result of measure() for that step; null if it was not the last one measured.
  const Validation* found(int64_t step) const { return step == step_ ? &found_ : nullptr; }
  // The same as members of log.jsonl and of a model's provenance, tx-run(5); otherwise empty.
  Json report(int64_t step) const;

  // The score of --valid-command for the model of `step`, higher is better; empty: the command
  // failed, which counts as a validation without improvement. `due`: as for measure().
  void take_command_score(int64_t step, std::optional<double> score, bool due = true);

  // "validation loss 2.3412 at step 900"; "" if there is no best model yet.
  std::string best_text() const;
  int64_t best() const { return end_ ? end_->step : due_best(); }   // its step; -1: none yet
  int64_t due_best() const { return has_best_ ? best_step_ : -1; }  // of the validations due
  bool out_of_patience() const { return options_.patience > 0 && bad_ >= options_.patience; }
  // The next model compared becomes the best, and patience starts again.
  void forget_best() {
    end_.reset();
    has_best_ = false;
    bad_ = 0;
  }
  // Training continues: the run takes the decisions of one that did not end here.
  void go_on() { end_.reset(); }
  // After a rewind: found() is null for every step.
  void forget_found() { step_ = -1; }

  // Members of the state file of `step`. restore() throws Json::exception if one is missing. It
  // ignores best and patience of a state with another criterion, whose scores are not comparable.
  Json state(int64_t step) const;
  void restore(const Json& state);
  // The criterion that the last restore() ignored; "" if it ignored none.
  const std::string& replaced() const { return replaced_; }
  static int64_t best_of(const Json& state);      // its best step; -1: none
  static int64_t due_best_of(const Json& state);  // its due_best()

 private:
  double score(const Validation& found) const;
  void update_best(int64_t step, double score, bool due);

  const TrainOptions& options_;
  TextTally text_;
  Validation found_;
  int64_t step_ = -1;  // of found_
  bool has_best_ = false;
  int64_t best_step_ = 0, bad_ = 0;
  double best_score_ = 0;  // lower is better
  struct End {
    int64_t step;
    double score;
  };
  std::optional<End> end_;               // a better model, whose validation was not due
  std::optional<double> command_score_;  // of the model of scored_step_
  int64_t scored_step_ = -1;
  std::string replaced_;
  bool warned_ = false;  // compare_texts()
};

}  // namespace tx
