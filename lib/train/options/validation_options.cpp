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
  o.add("--valid-every", valid_every, "STEPS",
        "steps between validations; 0: at every --save-every",
        "A new best model is saved at once, whatever --save-every.")
      .at_least(0)
      .needs({"--valid-src"});
  o.add("--valid-metric", valid_metric, listed(), "metric that selects the best model",
        "It also decides for --patience and tx-avg --best. With several metrics, separated by "
        "commas, the first decides and the others are logged. loss: the training loss, with label "
        "smoothing; perplexity: without smoothing, it may rise while a smoothed model still "
        "improves; accuracy: share of target tokens predicted correctly; bleu and chrf: scores of "
        "greedy translations.")
      .default_is(validation_metrics().front())
      .list_of(validation_metrics())
      .needs({"--valid-src"});
  o.add("--valid-lines", valid_lines, "N", "lines translated for bleu and chrf; 0: all",
        "The first N lines of the files, including those that --max-length drops.")
      .at_least(0)
      .needs({"--valid-metric bleu", "--valid-metric chrf"});
  o.add("--valid-command", valid_command, "COMMAND",
        "shell command that prints the score of the model in $MODEL",
        "Its score replaces --valid-metric; see VALIDATION.")
      .may_be_empty();
  o.add("--valid-timeout", valid_timeout, "SECONDS", "time limit of --valid-command; 0: none")
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
          "--valid-metric " + metric + " cannot be used with " +
          (denoise ? "--denoise: it has no translations"
                   : "--kind " + kind.name + ": only a model of kind encoder-decoder translates"));
}

}  // namespace tx
