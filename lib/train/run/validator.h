// Validation during training: measures a model on the validation text, remembers which step was the
// best and counts how many validations ago that was. It writes nothing; what it remembers is part
// of the state file, tx-run(5), so that a resumed run compares as one that was never stopped.
//
// Models are compared by one criterion: the first metric of --valid-metric, or the score of
// --valid-command where there is one.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/view.h"
#include "lib/base/json.h"
#include "lib/data/cache.h"
#include "lib/train/options/options.h"

namespace tx {

struct Validation {
  double loss = 0, nll = 0, accuracy = 0;  // per label; loss is smoothed, nll in nats
  double labels = 0;
  std::map<std::string, double> translated = {};  // bleu, chrf, where they were asked for
};

class Validator {
 public:
  // Gives bleu and chrf of --valid-metric, in that order, or nothing where it was stopped.
  using Translate = std::function<std::optional<std::vector<double>>()>;

  // The options, which are resolved, outlive it. `text`: of a language model's text, for figures by
  // word and byte; zeros: there are none.
  explicit Validator(const ValidOptions& options, const TextTally& text = {})
      : options_(options), text_(text) {}

  // What models are compared by, in words: "loss", "bleu of 1000 lines", "command: COMMAND".
  std::string criterion() const;
  static std::string criterion(const std::string& metric, const std::string& command);

  // Measures the model of `step` by the sums of ValidPass (lib/train/step/valid_pass.h), means over
  // all labels of the text, and by its translations where a metric asks for them. Where no command
  // decides, the model is compared with the best so far. Null, and nothing has changed, where
  // translating was stopped.
  const Validation* measure(int64_t step, const StepRecord& sums, const Translate& translate = {});
  // Of a language model: all of the text's nll, ends included, over its words, and its bytes.
  bool counts_text() const { return text_.words > 0; }
  double word_perplexity(const Validation& found) const;
  double bits_per_byte(const Validation& found) const;
  // What measure() found for that step, null when it was not measured last.
  const Validation* found(int64_t step) const { return step == step_ ? &found_ : nullptr; }
  // Members of the log and of a model's provenance: what was found, by its names in tx-run(5).
  // Empty for a step that was not measured last.
  Json report(int64_t step) const;

  // The command's score of the model of `step`, higher is better; empty: the command failed,
  // which counts as a validation without a better one.
  void take_command_score(int64_t step, std::optional<double> score);

  // "loss 2.3412 at step 900"; "" where there is none yet.
  std::string best_text() const;
  int64_t best() const { return has_best_ ? best_step_ : -1; }  // its step; -1: none yet
  bool out_of_patience() const { return options_.patience > 0 && bad_ >= options_.patience; }
  // The best model is gone: the next one compared is the best, and patience starts anew.
  void forget_best();
  // The weights are those of another step from here on: nothing is found for any step.
  void forget_found() { step_ = -1; }

  // Members of the state file of `step`. restore() throws Json::exception where one is missing. A
  // state that was compared by another criterion brings no best and no patience: its scores say
  // nothing about the models to come.
  Json state(int64_t step) const;
  void restore(const Json& state);
  // That other criterion, "" where the last restore() met the same one, or where nothing was lost
  // by it.
  const std::string& replaced() const { return replaced_; }
  static int64_t best_of(const Json& state);  // the best step by its own criterion; -1: none

 private:
  double score(const Validation& found) const;
  void update_best(int64_t step, double score);

  const ValidOptions& options_;
  TextTally text_;
  Validation found_;
  int64_t step_ = -1;  // of found_
  bool has_best_ = false;
  int64_t best_step_ = 0, bad_ = 0;
  double best_score_ = 0;                // lower is better
  std::optional<double> command_score_;  // of the model of scored_step_
  int64_t scored_step_ = -1;
  std::string replaced_;
};

}  // namespace tx
