#include "lib/train/plan/resolve.h"

#include <algorithm>
#include <utility>

#include "kernels/backend.h"
#include "lib/base/error.h"
#include "lib/base/resources.h"
#include "lib/base/split.h"
#include "lib/base/workers.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/run_checkpoints.h"
#include "lib/train/plan/schedule.h"

namespace tx {
namespace {

// A copy of options with a parser of its own.
struct Bound {
  TrainOptions options;
  Options parser{"tx-train", ""};
  Bound(const TrainOptions& of, const Options& given) : options(of) {
    options.describe(parser);
    parser.take_origins(given);
  }
};

void apply_layers(TrainOptions& o, const Options& given) {
  const int layers = std::exchange(o.layers, 0);  // config.json holds the layers of each stack
  if (layers == 0) return;
  const bool encoder = given.given("encoder-layers"), decoder = given.given("decoder-layers");
  if (encoder && decoder)
    throw UsageError("--layers cannot be used with both --encoder-layers and --decoder-layers");
  if (!encoder) o.model.sides.front().layers = layers;
  if (!decoder) o.model.sides.back().layers = layers;
}

// Rejects values that would divide by 0 or make every update 0.
void check_numbers(const TrainOptions& o, const Options& given) {
  for (const auto& [name, value] : {std::pair("--beta1", o.beta1), std::pair("--beta2", o.beta2)})
    if (value >= 1) throw UsageError(std::string(name) + " must be at least 0 and less than 1");
  if (o.epsilon <= 0) throw UsageError("--epsilon must be greater than 0");
  if (given.given("lr") && o.lr <= 0) throw UsageError("--lr must be greater than 0");
  if (o.lr_factor <= 0) throw UsageError("--lr-factor must be greater than 0");
}

void check_schedule(const TrainOptions& o) {
  if (o.schedule != Schedule::paper && o.lr <= 0)
    throw UsageError("--schedule " + o.schedule.name + " needs --lr, for instance --lr 0.0005");
  if (o.rate_falls() && o.steps == 0)
    throw UsageError("--steps 0 cannot be used with --schedule " + o.schedule.name +
                     ", whose rate reaches 0 at the last step: use another, such as --schedule "
                     "constant");
  if (o.schedule == Schedule::paper && o.warmup == 0)
    throw UsageError("--schedule paper needs a --warmup of at least 1");
}

void check_limits(const TrainOptions& o) {
  if (o.steps == 0 && o.epochs == 0 && o.minutes == 0 && o.patience == 0)
    throw UsageError("this run would never end: give --steps, --epochs, --minutes or --patience");
  if (o.patience > 0 && o.valid_src.empty() && o.valid_command.empty())
    throw UsageError(std::string("--patience needs --valid-src") +
                     (o.one_text() ? "" : " and --valid-tgt") + ", or --valid-command");
  if (o.patience > 0 && o.compared_every() == 0 && o.save_minutes == 0)
    throw UsageError(
        std::string("--patience counts validations, but with --save-every 0 there are none") +
        (o.valid_command.empty() ? ": give --valid-every" : " by --valid-command"));
}

void check_texts(const TrainOptions& o) {
  if (o.one_text()) return;
  if (o.src.empty() != o.tgt.empty()) throw UsageError("--src and --tgt go together");
  if (o.valid_src.empty() != o.valid_tgt.empty())
    throw UsageError("--valid-src and --valid-tgt go together");
}

// The names in "loss" and "accuracy,loss", in order; the parser has checked them.
std::vector<std::string> metrics_of(const TrainOptions& o) {
  std::vector<std::string> names;
  for (const std::string& text : o.valid_metric)
    for (const std::string& name : split_at(text, ',')) {
      if (std::find(names.begin(), names.end(), name) != names.end())
        throw UsageError("--valid-metric: " + name + " is given twice");
      names.push_back(name);
    }
  if (names.empty()) names = {validation_metrics().front()};
  for (const std::string& name : names)
    if (o.one_text() && is_translated(name))
      throw UsageError("--valid-metric " + name + " cannot be used with " +
                       (o.denoise
                            ? "--denoise: there are no translations"
                            : "--kind " + o.kind.name + ": only encoder-decoder models translate"));
  return names;
}

// A value as it is written on the command line.
std::string shown_value(const Json& value) {
  if (value.is_array() && !value.empty()) {
    std::string all;
    for (const Json& one : value) all += (all.empty() ? "" : " ") + shown_value(one);
    return all;
  }
  return value.is_string() && !value.get<std::string>().empty() ? value.get<std::string>()
                                                                : to_text(value);
}

// Takes --kind from the model of --init, and checks the options given with it.
TrainOptions with_kind_of_init(TrainOptions o, const Options& given) {
  if (given.given("kind")) return o;
  o.kind = ModelReader(resolve_model(o.init)).config().kind;
  const bool open = preset_is_open(o, given) && !given.chosen("schedule");
  Bound(o, given).parser.check(open ? std::vector<std::string>{"schedule"}
                                    : std::vector<std::string>());
  return o;
}

TrainOptions with_shape_of_init(TrainOptions o, const Options& given) {
  const ModelConfig model = ModelReader(resolve_model(o.init)).config();
  if (!model.source_eos || !model.source_bos)
    throw DataError("--init " + o.init + ": its texts lack " + (model.source_bos ? "</s>" : "<s>") +
                    ", so tx cannot train it");
  const Json theirs = model.to_json(), ours = options_json(o);
  visit_fields(model, [&](const ConfigField& field, const auto&) {
    const std::string name = field.option ? std::string(field.option).substr(2) : field.key;
    const bool by_layers = given.given("layers") && name.find("coder-layers") != std::string::npos;
    if (!ours.contains(name) || (!given.given(name) && !by_layers) ||
        ours[name] == theirs[field.key])
      return;
    throw UsageError("--" + (by_layers ? "layers" : name) + " " + shown_value(ours[name]) +
                     " contradicts the model of --init " + o.init + ", which has " +
                     shown_value(theirs[field.key]) + ": leave it out");
  });
  o.take_model(model);
  return o;
}

}  // namespace

Json options_json(const TrainOptions& options) {
  TrainOptions copy = options;  // describe() binds fields that can be set
  Options all("", "");
  copy.describe(all);
  return all.to_json();
}

TrainOptions with_values(const TrainOptions& options, const Options& given, const Json& values,
                         const std::string& where) {
  Bound bound(options, given);
  bound.parser.from_json(values, where);
  return bound.options;
}

void take_preset(Options& parser, const TrainOptions& options, Preset preset) {
  TrainOptions changed = options;
  changed.apply_preset(preset);
  Options theirs("tx-train", "");
  changed.describe(theirs);
  parser.take_defaults(theirs);
}

TrainOptions with_preset(const TrainOptions& options, const Options& given, Preset preset) {
  Bound bound(options, given);
  take_preset(bound.parser, options, preset);
  bound.options.preset = preset;
  return bound.options;
}

bool is_fine_tuning(const TrainOptions& options) {
  return options.preset == Preset::automatic && !options.init.empty() && options.resume.empty();
}

bool preset_is_open(const TrainOptions& options, const Options& given) {
  if (is_fine_tuning(options)) return true;
  if (options.preset != Preset::automatic || !options.resume.empty()) return false;
  bool sized = given.chosen("layers");
  visit_fields(options.model, [&](const ConfigField& field, const auto&) {
    sized = sized || (field.size && given.chosen(std::string(field.option).substr(2)));
  });
  return !sized;
}

TrainOptions resolve(TrainOptions o, const Options& given) {
  check_numbers(o, given);
  apply_layers(o, given);
  if (o.preset != Preset::automatic) {
    if (!steps_by_minutes(o, given)) o = fit_schedule(o, given);
    Bound(o, given).parser.check();
    check_schedule(o);
    o.guided();
  }
  check_limits(o);
  check_texts(o);
  if (o.one_text() && !given.chosen("label-smoothing"))
    o.label_smoothing = 0;  // the loss is then the cross-entropy of the text
  o.valid_metric = metrics_of(o);
  o.batch_tokens.number();
  if (!o.memory.empty()) parse_size(o.memory, "--memory");
  if (o.threads == 0) o.threads = available_cpus();
  o.device = resolve_device(o.device);
  if (o.precision == Precision::automatic)
    o.precision.name = name_of_value(auto_precision(o.device).dtype);
  ModelConfig shape = o.model_config();  // throws for contradictions before any text is read
  shape.set_vocabularies(1);
  shape.resolve();
  return o;
}

TrainOptions resolve_run(TrainOptions o, const Options& given, const Log& log) {
  const bool starts_from_model = !o.init.empty() && o.resume.empty();
  if (starts_from_model) o = with_kind_of_init(o, given);
  if (o.preset == Preset::automatic && !preset_is_open(o, given)) {
    o.preset = Preset::base;
    if (o.resume.empty())
      log.info("preset base, because the size of the model is given; override with --preset");
  }
  o = resolve(o, given);
  if (starts_from_model) o = with_shape_of_init(o, given);
  limit_threads(o.threads, log);
  if (given.given("tune") && o.tune && o.device == Device::cpu)
    log.warn("--tune has no effect on a CPU");
  return o;
}

void check_changes(const Json& before, const TrainOptions& options, const Options& given,
                   const Log& log) {
  const Json now = options_json(options);
  if (options.freeze_old_tokens && options.tensor_parallel > 1)
    throw UsageError("--tensor-parallel cannot be used with --freeze-old-tokens, as in this run");
  const std::string links = "guided-alignment";
  const bool had = before.at(links) != "", has = now.at(links) != "";
  if (had != has)
    throw UsageError("--" + links + " cannot be " + (had ? "removed from" : "added to") +
                     " a resumed run");
  for (const auto& option : given.all()) {
    const std::string key = option->long_name();
    if (!before.contains(key) || !now.contains(key) || before[key] == now[key]) continue;
    const std::string value = "--" + key + " " + shown_value(now[key]);
    if (key == "threads" || key == "device")
      log.warn(value + " instead of " + shown_value(before[key]) +
               ": the last bits of the model may differ");
    if (option->file == FileRole::input && !before[key].empty())  // the text may have moved
      log.warn(value + " is ignored if the tokenised text, " +
               (key.starts_with("valid") ? "valid.ids" : "train.ids") +
               ", exists; otherwise it must be the same text");
    if (key == "steps" && options.rate_falls())
      log.warn("--steps changes the learning rate: the schedule reaches 0 at the last step");
  }
}

void note_options(Json& config, const TrainOptions& options, int64_t step) {
  const Json now = options_json(options);
  const Json former = config.at("options").at("save-every");  // a copy: `config` grows
  if (former != now.at("save-every"))
    config["saves_before"].push_back({{"until", step}, {"every", former}});
  config["options"] = now;
}

}  // namespace tx
