// The options about validation: what is measured, when, and what chooses the best model.
#include <algorithm>

#include "lib/base/error.h"
#include "lib/checkpoint/judgement.h"
#include "lib/train/options/options.h"

namespace tx {

namespace {

std::string listed() {
  std::string text;
  for (const std::string& name : validation_metrics()) text += (text.empty() ? "" : "|") + name;
  return text;
}

// The names in texts such as "loss" and "accuracy,loss", in order.
std::vector<std::string> parse_metrics(const std::vector<std::string>& texts) {
  const std::vector<std::string>& known = validation_metrics();
  std::vector<std::string> names;
  for (const std::string& text : texts) {
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      const std::string name = text.substr(begin, end - begin);
      begin = end + 1;
      if (std::find(names.begin(), names.end(), name) != names.end())
        throw UsageError("--valid-metric names " + name + " twice");
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        const std::string guess = nearest(name, known);
        throw UsageError("--valid-metric '" + name + "': must be one of " + listed() +
                         (guess.empty() ? "" : "; did you mean " + guess + "?"));
      }
      names.push_back(name);
    }
  }
  return names;
}

}  // namespace

void TrainOptions::describe_validation(Options& o) {
  o.group("Validation").goes_with({"--resume"});
  o.add("--valid-every", valid_every, "STEPS", "validate; 0: at every save by --save-every",
        "A model better than all before is saved, whatever the step.")
      .at_least(0)
      .needs({"--valid-src"});
  o.add(
       "--valid-metric", valid_metric, listed(), "what the models are compared by",
       "By it the best model is chosen, --patience counts, and tx-avg --best chooses. loss is the "
       "one of training, with its label smoothing; perplexity leaves the smoothing out, and rises "
       "while a smoothed model still improves; accuracy is the share of pieces guessed right. bleu "
       "and chrf translate the text greedily and score that as tx-bleu does. Of several, "
       "separated by commas, the first decides and the others are logged.")
      .default_is(validation_metrics().front())
      .list_of(validation_metrics())
      .needs({"--valid-src"});
  o.add("--valid-lines", valid_lines, "N", "lines of the text that bleu and chrf translate; 0: all",
        "The first N of the files, also those that --max-length drops.")
      .at_least(0)
      .needs({"--valid-metric bleu", "--valid-metric chrf"});
  o.add(
       "--valid-command", valid_command, "COMMAND",
       "run after a save; its number on stdout chooses the best",
       "A shell command with the checkpoint's path in $MODEL. It prints one number, or the line or "
       "the JSON of tx-bleu for one metric; anything else ends the run, which can be resumed. The "
       "number is logged as validation_score, higher is better, and decides about the best and "
       "--patience in place of --valid-metric. A command that fails has no score, which counts as "
       "a "
       "validation without a better model.")
      .may_be_empty();
  o.add("--valid-timeout", valid_timeout, "SECONDS",
        "end a --valid-command that takes longer; 0: no limit")
      .at_least(0)
      .needs({"--valid-command"});
}

void TrainOptions::resolve_validation() {
  if (!one_text() && valid_src.empty() != valid_tgt.empty())
    throw UsageError("--valid-src and --valid-tgt go together");
  valid_metric = parse_metrics(valid_metric);
  if (valid_metric.empty()) valid_metric = {validation_metrics().front()};
  for (const std::string& metric : valid_metric)
    if (one_text() && is_translated(metric))
      throw UsageError(
          "--valid-metric " + metric + " does not go with " +
          (denoise ? "--denoise: it has no translations"
                   : "--kind " + kind.name + ": only a model of kind encoder-decoder translates"));
}

}  // namespace tx
