#include "lib/train/plan/settle.h"

#include <algorithm>
#include <cmath>

#include "lib/base/figure.h"
#include "lib/checkpoint/model_file.h"
#include "lib/data/packing.h"
#include "lib/data/pair_dropout.h"
#include "lib/train/plan/memory.h"
#include "lib/train/plan/resolve.h"

namespace tx {
namespace {

// --preset auto: at most auto_epochs. Of modern, modern_epochs, but at least its own steps and at
// most modern_steps; with tiny and base the run ends after patience_steps without improvement.
constexpr int64_t auto_epochs = 60, modern_epochs = 15, modern_steps = 12000, patience_steps = 2120;
// Fine-tuning: the same in epochs, and the d_model above which the learning rate is lowered.
constexpr int64_t tuning_patience_epochs = 5, tuned_width = 128;

TrainOptions preset_options(Preset preset) {
  TrainOptions options;
  options.apply_preset(preset);
  return options;
}

// FLOPs of the matrix products of a run with a preset on this text.
double run_flops(Preset preset, int64_t steps, const TextSize& text) {
  TrainOptions o = preset_options(preset);
  if (text.tokens.size() == 1) o.kind = ModelKind::decoder;
  ModelConfig model = o.model_config();
  model.set_vocabularies(8000);
  model.resolve();
  const double target = double(steps) * o.batch_tokens.number();
  std::vector<double> tokens;
  for (const int64_t side : text.tokens)
    tokens.push_back(target * double(side) / double(text.target()));
  return step_flops(model, tokens);
}

// Whether batches hold the longest sentences even with BPE-dropout.
bool holds_longest(int batch, const Corpora& corpora) {
  const std::vector<int> capacities = batch_capacities(corpora.train_lengths(), batch);
  for (const PairLengths& text : corpora.lengths())
    for (int side = 0; side < text.sides(); ++side)
      if (PairDropout::max_growth * text.longest(side) + 2 > capacities[size_t(side)]) return false;
  return true;
}

// Whether the run validates, so that --patience can end it.
bool compares(const TrainOptions& o) {
  return (!o.valid_src.empty() || !o.valid_command.empty()) && o.compared_every() > 0;
}

// The number of validations in this many steps, at least 5.
int patience_of(int64_t steps, const TrainOptions& o) {
  const int64_t interval = o.compared_every();
  return int(std::max<int64_t>(5, (steps + interval - 1) / interval));
}

std::string ending(const TrainOptions& o) {
  if (o.patience == 0) return "";
  return "; it ends after " + counted(o.patience, "validation") +
         " without improvement (--patience)";
}

}  // namespace

PresetChoice choose_preset(const TextSize& text, Device device, bool muon) {
  const Preset compact = muon ? Preset::modern : Preset::tiny;
  const std::string has = "; this text has " + grouped(double(text.target()));
  if (text.target() < toy_tokens && text.fits_toy)
    return {Preset::toy, "for fewer than " + grouped(double(toy_tokens)) + text.unit() + has};
  if (text.target() < base_tokens)
    return {compact, "for fewer than " + grouped(double(base_tokens)) + text.unit() + has};
  if (device == Device::cuda)
    return {Preset::base,
            "for " + grouped(double(base_tokens)) + text.unit() + " or more on a GPU" + has};
  const double times = run_flops(Preset::base, preset_options(Preset::base).steps, text) /
                       run_flops(compact, modern_steps, text);
  const double digits = std::pow(10, std::floor(std::log10(times)) - 1);
  return {compact, "as there is no GPU" + has + ", but --preset base needs about " +
                       grouped(std::round(times / digits) * digits) + " times the arithmetic"};
}

namespace {

// About a hundred batches per epoch, each large enough for the longest sentence.
int tuning_batch(const PairLengths& text, const Corpora& corpora) {
  int64_t tokens = std::clamp<int64_t>(text.rows(text.sides() - 1) / 100, 1024, 8192) / 64 * 64;
  while (tokens < max_auto_tokens && !holds_longest(int(tokens), corpora)) tokens += 1024;
  return int(tokens);
}

int64_t tuning_epochs(int64_t target_tokens) {
  for (const auto& [tokens, epochs] : {std::pair(100000, 20), {1000000, 10}, {10000000, 5}})
    if (target_tokens < tokens) return epochs;
  return 3;
}

std::string tuning_text(const TrainOptions& o, int64_t epochs, int64_t tokens) {
  const std::string rate = formatted("schedule %s, rate %.3g", o.schedule.name.c_str(), o.lr);
  return "fine-tuning " + o.init + " with " + o.optimizer.name + ": batches of " +
         o.batch_tokens.text + " target tokens, " +
         (o.schedule == Schedule::paper ? "schedule paper" : rate) + ", " +
         counted(o.warmup, "step") + " of warm-up; " + counted(o.steps, "step") +
         (epochs > 0 ? ", " + counted(epochs, "epoch") + " of the text's " +
                           grouped(double(tokens)) + " target tokens"
                     : std::string()) +
         ending(o) + "; override with options or --preset";
}

TextPlan settle_fine_tuning(const TrainOptions& options, const Options& given,
                            const Corpora& corpora) {
  const PairLengths text = corpora.train_lengths();
  const int width = ModelReader(resolve_model(options.init)).config().d_model;
  TrainOptions tuned = with_preset(options, given, Preset::fine_tuning);
  if (!given.chosen("lr")) tuned.lr *= std::min(1.0, double(tuned_width) / double(width));
  if (!given.chosen("batch-tokens")) tuned.batch_tokens = tuning_batch(text, corpora);
  return {resolve(tuned, given), {Preset::fine_tuning, "", text.rows(text.sides() - 1)}};
}

TrainOptions settle_tuning_length(TrainOptions o, const Options& given, int64_t tokens,
                                  const CountSteps& count, const Log& log) {
  const bool open = !given.chosen("steps");
  const int64_t epochs = o.epochs > 0 ? o.epochs : tuning_epochs(tokens);
  const int64_t epoch = count(1, 0);
  if (open) o.steps = count(epochs, 0);
  if (!given.chosen("save-every")) o.save_every = epoch;
  if (!given.chosen("patience") && compares(o))
    o.patience = patience_of(tuning_patience_epochs * epoch, o);
  if (!steps_by_minutes(o, given)) o = fit_schedule(o, given);
  log.info(tuning_text(o, open ? epochs : 0, tokens));
  return o;
}

TrainOptions settle_length(const TextPlan& plan, const Options& given, const CountSteps& count,
                           const Log& log) {
  TrainOptions o = plan.options;
  const auto& [preset, why, tokens] = plan.choice;
  if (preset == Preset::automatic) return o;
  if (preset == Preset::fine_tuning) return settle_tuning_length(o, given, tokens, count, log);
  const int64_t steps = o.steps;
  if (!given.chosen("steps")) {
    if (o.epochs > 0)
      o.steps = count(o.epochs, 0);
    else if (preset == Preset::modern)
      o.steps = std::max(steps, count(modern_epochs, modern_steps));
    if (o.epochs == 0 && preset != Preset::toy)  // a run of toy takes seconds
      o.steps = std::min(o.steps, count(auto_epochs, o.steps));
  }
  if (!steps_by_minutes(o, given)) o = fit_schedule(o, given);
  std::string length;
  if (o.epochs == 0 && o.steps != steps) {
    const int64_t epoch = count(1, 0);
    length =
        "; " + counted(o.steps, "step") + ", " + counted((o.steps + epoch / 2) / epoch, "epoch");
  }
  log.info("preset " + o.preset.name + ", " + why + length + ending(o) +
           "; override with --preset");
  return o;
}

}  // namespace

TextPlan settle_preset(const TrainOptions& options, const Options& given, const Corpora& corpora) {
  if (!preset_is_open(options, given)) return {options, {}};
  if (is_fine_tuning(options)) return settle_fine_tuning(options, given, corpora);
  const PairLengths text = corpora.train_lengths();
  TextSize size{{}, holds_longest(preset_options(Preset::toy).batch_tokens.number(), corpora)};
  for (int side = 0; side < text.sides(); ++side) size.tokens.push_back(text.rows(side));
  const bool muon = options.tensor_parallel == 1 &&
                    (!given.chosen("optimizer") || options.optimizer == Optimizer::muon);
  PresetChoice choice = choose_preset(size, options.device, muon);
  choice.tokens = size.target();
  TrainOptions chosen = with_preset(options, given, choice.preset);
  const bool falls = choice.preset == Preset::toy || choice.preset == Preset::modern;
  if (!given.chosen("patience") && !falls && compares(chosen))
    chosen.patience = patience_of(patience_steps, chosen);
  return {resolve(chosen, given), choice};
}

TrainOptions settle(const TrainOptions& options, const Options& given, const Corpora& corpora,
                    const FixBatch& fix_batch, const Log& log) {
  const TextPlan plan = settle_preset(options, given, corpora);
  const CountSteps count = fix_batch(plan.options);
  return settle_length(plan, given, count, log);
}

}  // namespace tx
