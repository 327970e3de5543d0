#include "lib/train/options/settle.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/workers.h"
#include "lib/checkpoint/model_file.h"
#include "lib/data/packing.h"
#include "lib/data/pair_dropout.h"
#include "lib/train/options/schedule.h"
#include "lib/train/step/plan.h"

namespace tx {

namespace {

// A value as it is written on the command line.
std::string shown(const Json& value) {
  if (value.is_array() && !value.empty()) {
    std::string all;
    for (const Json& one : value) all += (all.empty() ? "" : " ") + shown(one);
    return all;
  }
  return value.is_string() && !value.get<std::string>().empty() ? value.get<std::string>()
                                                                : to_text(value);
}

// Takes --kind from the model of --init, and checks the options given with it.
void adopt_kind(TrainOptions& options, const Options& given) {
  if (options.init.empty() || !options.resume.empty() || given.given("kind")) return;
  options.kind = ModelReader(resolve_model(options.init)).config().kind;
  const bool open = preset_is_open(options, given) && !given.chosen("schedule");
  given.check(open ? std::vector<std::string>{"schedule"} : std::vector<std::string>());
}

}  // namespace

void resolve_run(TrainOptions& options, const Options& given, const Log& log) {
  adopt_kind(options, given);
  if (options.preset == "auto" && !preset_is_open(options, given)) {
    options.preset = "base";
    if (options.resume.empty())
      log.info("preset base, because the size of the model is given; override with --preset");
  }
  options.resolve(given);
  limit_threads(options.threads, log);
  if (given.given("tune") && options.tune && options.device == "cpu")
    log.warn("--tune has no effect on a CPU");
}

void adopt_shape(TrainOptions& options, const Options& given) {
  const ModelConfig model = ModelReader(resolve_model(options.init)).config();
  const Json theirs = model.to_json(), ours = given.to_json();
  visit_fields(model, [&](const ConfigField& field, const auto&) {
    const std::string name = field.option ? std::string(field.option).substr(2) : field.key;
    const bool by_layers = given.given("layers") && name.find("coder-layers") != std::string::npos;
    if (!ours.contains(name) || (!given.given(name) && !by_layers) ||
        ours[name] == theirs[field.key])
      return;
    throw UsageError("--" + (by_layers ? "layers" : name) + " " + shown(ours[name]) +
                     " contradicts the model of --init " + options.init + ", which has " +
                     shown(theirs[field.key]) + ": leave it out");
  });
  options.take_model(model);
}

void check_changes(const Json& before, const Options& given, const Log& log) {
  const Json now = given.to_json();
  const std::string links = "guided-alignment";
  const bool had = before.at(links) != "", has = now.at(links) != "";
  if (had != has)
    throw UsageError("--" + links + " cannot be " + (had ? "removed from" : "added to") +
                     " a resumed run");
  for (const auto& option : given.all()) {
    const std::string key = option->long_name();
    if (!before.contains(key) || !now.contains(key) || before[key] == now[key]) continue;
    const std::string value = "--" + key + " " + shown(now[key]);
    if (key == "threads" || key == "device")
      log.warn(value + " instead of " + shown(before[key]) +
               ": the last bits of the model may differ");
    if (option->file == FileRole::input && !before[key].empty())  // the text may have moved
      log.warn(value + " is ignored if the tokenised text, " +
               (key.starts_with("valid") ? "valid.ids" : "train.ids") +
               ", exists; otherwise it must be the same text");
    if (key == "steps" && (now.at("schedule") == "linear" || now.at("schedule") == "cosine"))
      log.warn("--steps changes the learning rate: the schedule reaches 0 at the last step");
  }
}

void note_options(Json& config, const Json& options, int64_t step) {
  const Json former = config.at("options").at("save-every");  // a copy: `config` grows
  if (former != options.at("save-every"))
    config["saves_before"].push_back({{"until", step}, {"every", former}});
  config["options"] = options;
}

namespace {

// --preset auto: at most auto_epochs. Of modern, modern_epochs, but at least its own steps and at
// most modern_steps; with tiny and base the run ends after patience_steps without improvement.
constexpr int64_t auto_epochs = 60, modern_epochs = 15, modern_steps = 12000, patience_steps = 2120;
// Fine-tuning: the same in epochs, and the d_model above which the learning rate is lowered.
constexpr int64_t tuning_patience_epochs = 5, tuned_width = 128;

TrainOptions with_preset(const std::string& name) {
  TrainOptions options;
  options.apply_preset(name);
  return options;
}

Json settings_of(TrainOptions options) {
  Options all("", "");
  options.describe(all);
  return all.to_json();
}

// FLOPs of the matrix products of a run with a preset on this text.
double run_flops(const std::string& preset, int64_t steps, const TextSize& text) {
  TrainOptions o = with_preset(preset);
  if (text.tokens.size() == 1) o.kind = ModelKind::decoder;
  ModelConfig model = o.model_config();
  model.set_vocabularies(8000);
  model.resolve();
  const double target = double(steps) * parse_batch_tokens(o.batch_tokens);
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

bool is_fine_tuning(const TrainOptions& options) {
  return options.preset == "auto" && !options.init.empty() && options.resume.empty();
}

std::string ending(const TrainOptions& o) {
  if (o.patience == 0) return "";
  return "; it ends after " + counted(o.patience, "validation") +
         " without improvement (--patience)";
}

}  // namespace

PresetChoice choose_preset(const TextSize& text, const std::string& device, bool muon) {
  const std::string small = muon ? "modern" : "tiny";
  const std::string has = "; this text has " + grouped(double(text.target()));
  if (text.target() < toy_tokens && text.fits_toy)
    return {"toy", "for fewer than " + grouped(double(toy_tokens)) + text.unit() + has};
  if (text.target() < base_tokens)
    return {small, "for fewer than " + grouped(double(base_tokens)) + text.unit() + has};
  if (device == "cuda")
    return {"base",
            "for " + grouped(double(base_tokens)) + text.unit() + " or more on a GPU" + has};
  const double times =
      run_flops("base", with_preset("base").steps, text) / run_flops(small, modern_steps, text);
  const double digits = std::pow(10, std::floor(std::log10(times)) - 1);
  return {small, "as there is no GPU" + has + ", but --preset base needs about " +
                     grouped(std::round(times / digits) * digits) + " times the arithmetic"};
}

bool preset_is_open(const TrainOptions& options, const Options& given) {
  if (is_fine_tuning(options)) return true;
  if (options.preset != "auto" || !options.resume.empty()) return false;
  return !options.model.size_given(given);
}

namespace {

// About a hundred batches per epoch, each large enough for the longest sentence.
std::string tuning_batch(const PairLengths& text, const Corpora& corpora) {
  int64_t tokens = std::clamp<int64_t>(text.rows(text.sides() - 1) / 100, 1024, 8192) / 64 * 64;
  while (tokens < max_auto_tokens && !holds_longest(int(tokens), corpora)) tokens += 1024;
  return std::to_string(tokens);
}

int64_t tuning_epochs(int64_t target_tokens) {
  for (const auto& [tokens, epochs] : {std::pair(100000, 20), {1000000, 10}, {10000000, 5}})
    if (target_tokens < tokens) return epochs;
  return 3;
}

// The settings chosen, in one line.
std::string tuning_text(const TrainOptions& o, int64_t epochs, int64_t tokens) {
  char rate[80];
  std::snprintf(rate, sizeof rate, "schedule %s, rate %.3g", o.schedule.c_str(), o.lr);
  return "fine-tuning " + o.init + " with " + o.optimizer + ": batches of " + o.batch_tokens +
         " target tokens, " + (o.schedule == "paper" ? std::string("schedule paper") : rate) +
         ", " + counted(o.warmup, "step") + " of warm-up; " + counted(o.steps, "step") +
         (epochs > 0 ? ", " + counted(epochs, "epoch") + " of the text's " +
                           grouped(double(tokens)) + " target tokens"
                     : std::string()) +
         ending(o) + "; override with options or --preset";
}

PresetChoice settle_fine_tuning(TrainOptions& options, Options& given, const Corpora& corpora) {
  const PairLengths text = corpora.train_lengths();
  TrainOptions start = with_preset(fine_tuning);
  start.lr *= std::min(
      1.0, double(tuned_width) / double(ModelReader(resolve_model(options.init)).config().d_model));
  start.batch_tokens = tuning_batch(text, corpora);
  const Json all = settings_of(start);
  Json settings;
  for (const char* name : {"batch-tokens", "schedule", "lr", "warmup", "steps", "save-every"})
    settings[name] = all.at(name);
  given.from_json(settings, "preset " + start.preset, true);
  options.preset = fine_tuning;
  options.resolve(given);
  return {fine_tuning, "", text.rows(text.sides() - 1)};
}

void settle_tuning_length(TrainOptions& options, const Options& given, int64_t tokens,
                          const CountSteps& count, const Log& log) {
  const bool open = !given.chosen("steps");
  const int64_t epochs = options.epochs > 0 ? options.epochs : tuning_epochs(tokens);
  const int64_t epoch = count(1, 0);
  if (open) options.steps = count(epochs, 0);
  if (!given.chosen("save-every")) options.save_every = epoch;
  if (!given.chosen("patience") && compares(options))
    options.patience = patience_of(tuning_patience_epochs * epoch, options);
  if (!steps_by_minutes(options, given)) fit_schedule(options, given);
  log.info(tuning_text(options, open ? epochs : 0, tokens));
}

}  // namespace

Json preset_settings(const std::string& name) { return settings_of(with_preset(name)); }

PresetChoice settle_preset(TrainOptions& options, Options& given, const Corpora& corpora) {
  if (is_fine_tuning(options)) return settle_fine_tuning(options, given, corpora);
  const PairLengths text = corpora.train_lengths();
  TextSize size{{}, holds_longest(parse_batch_tokens(with_preset("toy").batch_tokens), corpora)};
  for (int side = 0; side < text.sides(); ++side) size.tokens.push_back(text.rows(side));
  const bool muon =
      options.tensor_parallel == 1 && (!given.chosen("optimizer") || options.optimizer == "muon");
  PresetChoice choice = choose_preset(size, options.device, muon);
  choice.tokens = size.target();
  Json settings = preset_settings(choice.name);
  settings.erase("threads");  // limited to those that can be started
  given.from_json(settings, "preset " + choice.name, true);
  options.preset = choice.name;
  const bool falls = choice.name == "toy" || choice.name == "modern";
  if (!given.chosen("patience") && !falls && compares(options))
    options.patience = patience_of(patience_steps, options);
  options.resolve(given);
  return choice;
}

void settle_length(TrainOptions& options, const Options& given, const PresetChoice& choice,
                   const CountSteps& count, const Log& log) {
  if (choice.name == fine_tuning)
    return settle_tuning_length(options, given, choice.tokens, count, log);
  const int64_t steps = options.steps;
  if (!given.chosen("steps")) {
    if (options.epochs > 0)
      options.steps = count(options.epochs, 0);
    else if (choice.name == "modern")
      options.steps = std::max(steps, count(modern_epochs, modern_steps));
    if (options.epochs == 0 && choice.name != "toy")  // a run of toy takes seconds
      options.steps = std::min(options.steps, count(auto_epochs, options.steps));
  }
  if (!steps_by_minutes(options, given)) fit_schedule(options, given);
  std::string length;
  if (options.epochs == 0 && options.steps != steps) {
    const int64_t epoch = count(1, 0);
    length = "; " + counted(options.steps, "step") + ", " +
             counted((options.steps + epoch / 2) / epoch, "epoch");
  }
  log.info("preset " + choice.name + ", " + choice.why + length + ending(options) +
           "; override with --preset");
}

}  // namespace tx
