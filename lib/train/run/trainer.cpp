#include "lib/train/run/trainer.h"

#include <signal.h>

#include <filesystem>
#include <memory>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/state_file.h"
#include "lib/train/input/data.h"
#include "lib/train/plan/resolve.h"
#include "lib/train/plan/settle.h"
#include "lib/train/run/pace.h"
#include "lib/train/run/session.h"

namespace tx {
namespace {

// A member of config.json: --steps is the number of steps of --epochs.
constexpr char steps_of_epochs[] = "steps_of_epochs";

// The newest checkpoint whose files are intact.
int64_t newest_intact(const RunDirectory& run, const Log& log) {
  const std::vector<int64_t> steps = run.complete_steps();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    try {
      const ModelReader model(run.model(*step));
      check_state(run.state(*step), model.config(), model.checksum());
      return *step;
    } catch (const DataError& e) {
      if (step + 1 == steps.rend()) throw;
      log.warn(std::string(e.what()) + "; resuming from the checkpoint of step " +
               std::to_string(*(step + 1)));
    }
  }
  throw DataError(run.path() + " has no complete checkpoint");
}

// What a run on rank 0 is made with.
struct Request {
  const TrainOptions& options;
  const Options& given;
  const MakeTranslationScorer& scorer;
  const Replicas& replicas;
  const Log& log;
};

int resume_run(const Request& request) {
  const auto& [options, given, scorer, replicas, log] = request;
  RunDirectory directory = RunDirectory::open(options.resume);
  Json config = directory.read_config();
  check_changes(config.at("options"), options, given, log);
  const int64_t step = newest_intact(directory, log);
  note_options(config, options, step);
  if (given.given("valid-src") && config.contains("valid_text"))
    config["valid_text"]["directory"] = std::filesystem::current_path().string();
  TrainingData data = reopen_data(options, directory, step, config, log);
  RunSpec spec = make_run_spec(options, std::move(data), directory, directory.model(step), config);
  send_run_spec(spec, options, replicas);
  Run run(options, std::move(spec), replicas, scorer, log);
  if (given.given("steps")) config.erase(steps_of_epochs);
  const bool by_epochs =
      config.contains(steps_of_epochs) && given.given("epochs") && options.epochs > 0;
  TrainOptions settled = options;
  if (by_epochs) settled.steps = run.counter()(options.epochs, 0);
  config["options"] = options_json(settled);
  Session session(settled, std::move(directory), config, run, log);
  session.resume(step);
  if (by_epochs)
    log.info("--epochs " + std::to_string(settled.epochs) + ": " + counted(settled.steps, "step"));
  return session.run();
}

void check_start(const TrainOptions& options) {
  if (options.out.empty()) throw UsageError("no run directory: give -o DIR");
  if (options.out == "-")
    throw UsageError(
        "--out -: a run is a directory and cannot be written to standard output: give -o DIR");
  if (options.src.empty())
    throw UsageError(std::string("no training text: give --src FILE") +
                     (options.one_text() ? "" : " and --tgt FILE"));
}

int start_run(const Request& request, const std::string& command) {
  const TrainOptions& options = request.options;
  const Options& given = request.given;
  const Log& log = request.log;
  check_start(options);
  Json config{{"command", command}, {"options", options_json(options)}};
  RunDirectory directory = RunDirectory::create(options.out);
  TrainingData data = open_data(options, directory, config, log);
  check_vocabulary_fit(options, data.vocabularies, data.corpora, log);
  if (preset_is_open(options, given) && options.epochs > 0 && !given.chosen("steps"))
    config[steps_of_epochs] = true;
  std::unique_ptr<Run> run;
  const auto make_run = [&](const TrainOptions& chosen) -> CountSteps {
    RunSpec spec = make_run_spec(chosen, std::move(data), directory, "", config);
    send_run_spec(spec, chosen, request.replicas);
    run = std::make_unique<Run>(chosen, std::move(spec), request.replicas, request.scorer, log);
    return run->counter();
  };
  TrainOptions settled = settle(options, given, data.corpora, make_run, log);
  run->initialise();
  if (steps_by_minutes(settled, given)) settled = fit_to_minutes(settled, given, *run, log);
  check_course(settled, run->counter(), log);
  config["options"] = options_json(settled);
  return Session(settled, std::move(directory), config, *run, log).run();
}

// Every rank but rank 0.
int follow_rank_0(const Request& request) {
  const auto& [options, given, scorer, replicas, log] = request;
  ReceivedRun received = receive_run_spec(options, given, replicas);
  // From here on rank 0 handles signals and ends the others.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) ::signal(signal, SIG_IGN);
  Run(received.options, std::move(received.spec), replicas, scorer, log).obey();
  return 0;
}

}  // namespace

int train(const TrainOptions& options, const Options& given, const std::string& command,
          const MakeTranslationScorer& scorer, Job& job, const Log& log) {
  ignore_sigpipe();
  const Replicas replicas(job.join(), options);
  const Request request{options, given, scorer, replicas, log};
  if (!replicas.leads()) return follow_rank_0(request);
  return options.resume.empty() ? start_run(request, command) : resume_run(request);
}

}  // namespace tx
