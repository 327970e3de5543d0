#include "lib/train/trainer.h"

#include <set>

#include "lib/base/error.h"
#include "lib/train/session.h"

namespace tx {

namespace {

// What a resumed run may change without becoming another run.
const std::set<std::string> changeable = {"steps",      "epochs",        "minutes",      "patience",
                                          "keep",       "save-every",    "save-minutes", "log-every",
                                          "valid-command", "threads"};

// Compares the options given beside --resume with those of the run.
void check_changes(const Json& before, const Json& now, const Log& log) {
  for (const auto& [key, value] : now.items()) {
    if (!before.contains(key) || before[key] == value) continue;
    if (!changeable.count(key))
      throw UsageError("--" + key + " cannot change in a resumed run (it is " +
                       to_text(before[key]) + "); what can: steps, epochs, minutes, patience, keep, "
                       "save-every, save-minutes, log-every, valid-command, threads");
    if (key == "threads")
      log.warn("--threads " + to_text(value) + " instead of " + to_text(before[key]) +
               ": the last bits of the result may differ");
    if (key == "steps" && (now.at("schedule") == "linear" || now.at("schedule") == "cosine"))
      log.warn("--steps changes the schedule, which falls to 0 at its end");
  }
}

int describe_only(const TrainOptions& options, const Log& log) {
  const Vocabularies v = load_vocabularies(options);
  ModelConfig model = options.model.config;
  model.source_vocabulary = v.source->size();
  model.target_vocabulary = v.target->size();
  model.resolve();
  Backend backend = make_backend(options.device, options.threads);
  const DType dtype = options.precision == "bf16" ? DType::bf16 : DType::f32;
  Parameters parameters(backend, model, dtype, true);
  const int tokens = options.batch_tokens == "auto" ? 4096 : std::stoi(options.batch_tokens);
  const std::vector<int> capacities{tokens, tokens};
  Transformer transformer(backend, parameters, options.max_length + 1);
  const MemoryPlan memory = plan_memory(backend, parameters, transformer, options, capacities);
  Writer out("-");
  out.write(describe_run(model, memory, capacities, options.accumulate));
  out.close();
  log.info("source and target are taken to be equally long; a run uses the corpus's ratio");
  return 0;
}

}  // namespace

int train(TrainOptions& options, const Options& given, const std::string& command, const Log& log) {
  options.resolve(given);
  if (options.describe_only) return describe_only(options, log);
  if (!options.resume.empty()) {
    RunDirectory run = RunDirectory::open(options.resume);
    Json config = run.read_config();
    check_changes(config.at("options"), given.to_json(), log);
    if (run.complete_steps().empty())
      throw DataError(options.resume + " holds no complete checkpoint to go on from; start again "
                      "in another --out");
    config["options"] = given.to_json();
    return Session(options, std::move(run), true, config, log).loop();
  }
  if (options.out.empty()) throw UsageError("no run directory: give -o DIR");
  if (options.src.empty()) throw UsageError("no training text: give --src FILE and --tgt FILE");
  const Json config{{"command", command}, {"options", given.to_json()}};
  return Session(options, RunDirectory::create(options.out), false, config, log).loop();
}

}  // namespace tx
