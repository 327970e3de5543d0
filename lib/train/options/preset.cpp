#include "lib/train/options/preset.h"

#include <cmath>
#include <cstdio>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/checkpoint/model_file.h"
#include "lib/data/packing.h"
#include "lib/data/pair_dropout.h"
#include "lib/train/options/schedule.h"
#include "lib/train/step/plan.h"

namespace tx {

namespace {

// With --preset auto: what a small text is read at most, and the steps without a better model after
// which the run ends.
constexpr int64_t auto_epochs = 60, auto_patience_steps = 2120;
// Of fine-tuning: the same in epochs, and the width up to which a model has the preset's whole
// rate.
constexpr int64_t tuning_patience_epochs = 5, tuned_width = 128;

TrainOptions with_preset(const std::string& name) {
  TrainOptions options;
  options.apply_preset(name);
  return options;
}

// Product FLOPs of a whole run with a preset on this text.
double run_flops(const std::string& preset, const TextSize& text) {
  TrainOptions o = with_preset(preset);
  if (text.tokens.size() == 1) o.kind = ModelKind::decoder;
  ModelConfig model = o.model_config();
  model.set_vocabularies(8000);
  model.resolve();
  const double target = double(o.steps) * parse_batch_tokens(o.batch_tokens);
  std::vector<double> tokens;
  for (const int64_t side : text.tokens)
    tokens.push_back(target * double(side) / double(text.target()));
  return step_flops(model, tokens);
}

// Whether batches have room for what BPE-dropout makes of the longest sentences.
bool holds_longest(int batch, const Corpora& corpora) {
  const std::vector<int> capacities = batch_capacities(corpora.train_lengths(), batch);
  for (const PairLengths& text : corpora.lengths())
    for (int side = 0; side < text.sides(); ++side)
      if (PairDropout::max_growth * text.longest(side) + 2 > capacities[size_t(side)]) return false;
  return true;
}

// Whether models are compared, and the run could end by --patience.
bool compares(const TrainOptions& o) {
  return (!o.valid_src.empty() || !o.valid_command.empty()) &&
         (o.save_every > 0 || o.valid_every > 0);
}

// The validations of so many steps.
int patience_of(int64_t steps, const TrainOptions& o) {
  const int64_t interval = o.valid_every > 0 ? o.valid_every : o.save_every;
  return int(std::max<int64_t>(5, (steps + interval - 1) / interval));
}

bool is_fine_tuning(const TrainOptions& options) {
  return options.preset == "auto" && !options.init.empty() && options.config.empty() &&
         options.resume.empty();
}

std::string ending(const TrainOptions& o) {
  if (o.patience == 0) return "";
  return "; it ends after " + counted(o.patience, "validation") +
         " without a better model (--patience)";
}

}  // namespace

PresetChoice choose_preset(const TextSize& text, const std::string& device) {
  const std::string has = "; this text has " + grouped(text.target());
  if (text.target() < toy_tokens && text.fits_toy)
    return {"toy", "for less than " + grouped(toy_tokens) + text.unit() + has};
  if (text.target() < base_tokens)
    return {"tiny", "for less than " + grouped(base_tokens) + text.unit() + has};
  if (device == "cuda")
    return {"base", "for " + grouped(base_tokens) + text.unit() + " or more on a GPU" + has};
  const double times = run_flops("base", text) / run_flops("tiny", text);
  const double digits = std::pow(10, std::floor(std::log10(times)) - 1);
  return {"tiny", "as there is no GPU" + has + ", but --preset base takes about " +
                      grouped(int64_t(std::round(times / digits) * digits)) +
                      " times the arithmetic"};
}

bool preset_is_open(const TrainOptions& options, const Options& given) {
  if (is_fine_tuning(options)) return true;
  if (options.preset != "auto" || !options.config.empty() || !options.resume.empty()) return false;
  return !options.model.size_given(given);
}

namespace {

// Batches of which an epoch has about a hundred, but which hold every sentence.
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

// What was settled, in one line.
std::string tuning_text(const TrainOptions& o, int64_t epochs, int64_t tokens) {
  char rate[80];
  std::snprintf(rate, sizeof rate, "schedule %s, rate %.3g", o.schedule.c_str(), o.lr);
  return "fine-tuning " + o.init + ": batches of " + o.batch_tokens + " target tokens, " +
         (o.schedule == "paper" ? std::string("schedule paper") : rate) + ", " +
         counted(o.warmup, "step") + " of warm-up; " + counted(o.steps, "step") +
         (epochs > 0 ? ", " + counted(epochs, "epoch") + " of the text's " + grouped(tokens) +
                           " target tokens"
                     : std::string()) +
         ending(o) + "; options given win, and --preset takes other settings";
}

void settle_fine_tuning(TrainOptions& options, Options& given, const Corpora& corpora,
                        const Log& log) {
  const PairLengths text = corpora.train_lengths();
  const int64_t tokens = text.rows(text.sides() - 1);
  TrainOptions start = with_preset(fine_tuning);
  start.lr *= std::min(
      1.0, double(tuned_width) / double(ModelReader(resolve_model(options.init)).config().d_model));
  start.batch_tokens = tuning_batch(text, corpora);
  Options defaults("", "");
  start.describe(defaults);
  const Json all = defaults.to_json();
  Json settings;
  for (const char* name : {"batch-tokens", "schedule", "lr", "warmup", "steps", "save-every"})
    settings[name] = all.at(name);
  given.from_json(settings, "preset " + start.preset);
  options.preset = fine_tuning;
  const int64_t epoch = epoch_steps(options, text);
  const int64_t epochs = options.epochs > 0 ? options.epochs : tuning_epochs(tokens);
  if (!given.given("steps")) options.steps = epochs * epoch;
  if (!given.given("save-every")) options.save_every = epoch;
  if (!given.given("patience") && compares(options))
    options.patience = patience_of(tuning_patience_epochs * epoch, options);
  options.resolve(given);
  log.info(tuning_text(options, given.given("steps") ? 0 : epochs, tokens));
}

}  // namespace

void settle_preset(TrainOptions& options, Options& given, const Corpora& corpora, const Log& log) {
  if (is_fine_tuning(options)) return settle_fine_tuning(options, given, corpora, log);
  const PairLengths text = corpora.train_lengths();
  TextSize size{{}, holds_longest(parse_batch_tokens(with_preset("toy").batch_tokens), corpora)};
  for (int side = 0; side < text.sides(); ++side) size.tokens.push_back(text.rows(side));
  const PresetChoice choice = choose_preset(size, options.device);
  TrainOptions start = with_preset(choice.name);
  Options defaults("", "");
  start.describe(defaults);
  given.from_json(defaults.to_json(), "preset " + choice.name);
  options.preset = choice.name;
  const bool open = !given.given("steps") && !given.given("epochs");
  if (open && choice.name != "toy")  // whose run takes seconds
    options.steps = std::min(options.steps, auto_epochs * epoch_steps(options, text));
  if (!given.given("patience") && choice.name != "toy" && compares(options))
    options.patience = patience_of(auto_patience_steps, options);
  options.resolve(given);
  const std::string steps = open && options.steps < start.steps
                                ? "; " + grouped(options.steps) + " steps, which read it " +
                                      std::to_string(auto_epochs) + " times"
                                : "";
  log.info("preset " + choice.name + ", " + choice.why + steps + ending(options) +
           "; --preset takes another");
}

void TrainOptions::apply_preset(const std::string& name) {
  ModelConfig& c = model.config;
  preset = name;
  if (name == "auto") return;
  if (name == "big") {
    c.d_model = 1024;
    c.d_ff = 4096;
    c.heads = 16;
    dropout = 0.3;
    steps = 300000;
    keep = 20;
  } else if (name == "tiny" || name == "modern") {
    c.norm = NormPosition::pre;  // after 450 steps half the validation perplexity of post-norm
    c.set_layers(4);
    c.d_model = 128;
    c.d_ff = 256;
    c.heads = 4;
    dropout = 0.3;
    batch_tokens = "2048";
    schedule = "inverse-sqrt";
    lr = 0.0035;
    warmup = 2000;
    steps = 12000;
    save_every = 212;  // about an epoch of Multi30k
    keep = 10;
    if (name == "tiny") return;
    c.norm_type = NormType::rms;
    c.positions = PositionEncoding::rotary;
    c.activation = Activation::swiglu;
    c.feed_forward_bias = false;
    c.kv_heads = 2;
    c.scaled_init = true;
    schedule = "cosine";
    lr = 0.005;
    warmup = 800;
    steps = 7000;
  } else if (name == "toy") {
    c.set_layers(2);
    c.d_model = 64;
    c.d_ff = 256;
    c.heads = 4;
    c.norm = NormPosition::pre;
    c.activation = Activation::gelu;
    dropout = 0;
    batch_tokens = "448";
    schedule = "linear";
    lr = 0.003;
    warmup = 100;
    steps = 960;
    save_every = 240;
    valid_every = 0;
  } else if (name == fine_tuning) {
    batch_tokens = "2048";
    schedule = "linear";
    lr = 0.001;
    warmup = 100;
    steps = 1000;
    save_every = 100;
  } else if (name != "base") {
    throw UsageError("--preset " + name + ": choose auto, base, big, tiny, modern or toy");
  }
}

}  // namespace tx
