#include "lib/train/options/run_options.h"

#include "lib/base/error.h"
#include "lib/base/workers.h"
#include "lib/checkpoint/model_file.h"
#include "lib/train/options/preset.h"

namespace tx {

namespace {

std::string shown(const Json& value) {
  return value.is_string() && !value.get<std::string>().empty() ? value.get<std::string>()
                                                                : to_text(value);
}

}  // namespace

namespace {

// The model to start from says which options there can be beside it.
void adopt_kind(TrainOptions& options, const Options& given) {
  if (options.init.empty() || given.given("kind")) return;
  options.kind = ModelReader(resolve_model(options.init)).config().kind;
  const bool open = preset_is_open(options, given) && !given.given("schedule");
  given.check(open ? std::vector<std::string>{"schedule"} : std::vector<std::string>());
}

}  // namespace

void resolve_run(TrainOptions& options, const Options& given, const Log& log) {
  adopt_kind(options, given);
  if (options.preset == "auto" && !preset_is_open(options, given)) options.preset = "base";
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
                     " contradicts --init " + options.init + ", whose model has " +
                     shown(theirs[field.key]) + ": leave it out");
  });
  options.take_model(model);
}

void check_changes(const Json& before, const Options& given, const Log& log) {
  const Json now = given.to_json();
  const std::string links = "guided-alignment";
  const bool had = before.at(links) != "", has = now.at(links) != "";
  if (had != has)
    throw UsageError("--" + links + " cannot change in a resumed run, which began with" +
                     (had ? " it" : "out it"));
  for (const auto& option : given.all()) {
    const std::string key = option->long_name();
    if (!before.contains(key) || !now.contains(key) || before[key] == now[key]) continue;
    const std::string value = "--" + key + " " + shown(now[key]);
    if (key == "threads" || key == "device")
      log.warn(value + " instead of " + shown(before[key]) +
               ": the last bits of the result may differ");
    if (option->file == FileRole::input)  // the text may have moved
      log.warn(value + ": the text is read only where " +
               (key.starts_with("valid") ? "valid.ids" : "train.ids") +
               " is missing, and must be that of the run");
    if (key == "steps" && (now.at("schedule") == "linear" || now.at("schedule") == "cosine"))
      log.warn("--steps changes the schedule, which falls to 0 at its end");
  }
}

void note_options(Json& config, const Json& options, int64_t step) {
  const Json& former = config.at("options").at("save-every");
  if (former != options.at("save-every"))
    config["saves_before"].push_back({{"until", step}, {"every", former}});
  config["options"] = options;
}

}  // namespace tx
