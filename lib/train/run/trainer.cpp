#include "lib/train/run/trainer.h"

#include <signal.h>

#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/state_file.h"
#include "lib/train/options/preset.h"
#include "lib/train/options/run_options.h"
#include "lib/train/options/schedule.h"
#include "lib/train/options/vocabulary_fit.h"
#include "lib/train/run/session.h"

namespace tx {

namespace {

// The newest checkpoint whose files are whole.
int64_t newest_whole(const RunDirectory& run, const Log& log) {
  const std::vector<int64_t> steps = run.complete_steps();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    try {
      const ModelReader model(run.model(*step));
      check_state(run.state(*step), model.config(), model.checksum());
      return *step;
    } catch (const DataError& e) {
      if (step + 1 == steps.rend()) throw;
      log.warn(std::string(e.what()) + "; going back to the checkpoint of step " +
               std::to_string(*(step + 1)));
    }
  }
  throw DataError(run.path() + " holds no complete checkpoint");
}

int resume(TrainOptions& options, const Options& given, const MakeTranslationScorer& scorer,
           const Replicas& replicas, const Log& log) {
  RunDirectory run = RunDirectory::open(options.resume);
  Json config = run.read_config();
  check_changes(config.at("options"), given, log);
  const int64_t step = newest_whole(run, log);
  note_options(config, given.to_json(), step);
  TrainingData data = reopen_data(options, run, step, config, log);
  RunSpec spec = make_run_spec(options, std::move(data), run.model(step), config);
  tell_run_spec(spec, options, given, replicas);
  return Session(options, std::move(run), config, std::move(spec), replicas, scorer, step, log)
      .run();
}

int start(TrainOptions& options, Options& given, const std::string& command,
          const MakeTranslationScorer& scorer, const Replicas& replicas, const Log& log) {
  if (options.out.empty()) throw UsageError("no run directory: give -o DIR");
  if (options.out == "-")
    throw UsageError("--out -: a run is a directory, which standard output is not: give -o DIR");
  if (options.src.empty())
    throw UsageError(std::string("no training text: give --src FILE") +
                     (options.one_text() ? "" : " and --tgt FILE"));
  if (!options.init.empty()) adopt_shape(options, given);
  Json config{{"command", command}, {"options", given.to_json()}};
  RunDirectory run = RunDirectory::create(options.out);
  TrainingData data = open_data(options, run, config, log);
  tell_fit(options, data.vocabularies, data.corpora, log);
  if (preset_is_open(options, given)) {
    settle_preset(options, given, data.corpora, log);
    config["options"] = given.to_json();
  }
  if (options.preset == "modern")
    log.info(
        "models of preset modern are for tx alone: tx-convert cannot write them for another "
        "toolkit, as it can those of preset tiny");
  const PairLengths lengths = data.corpora.train_lengths();
  RunSpec spec = make_run_spec(options, std::move(data), "", config);
  tell_run_spec(spec, options, given, replicas);
  Session session(options, std::move(run), config, std::move(spec), replicas, scorer,
                  Session::beginning, log);
  if (steps_by_minutes(options, given)) session.fit_to_minutes(options, given);
  check_course(options, lengths, log);
  return session.run();
}

// What every rank but the first does instead.
int follow(TrainOptions& options, Options& given, const MakeTranslationScorer& scorer,
           const Replicas& replicas, const Log& log) {
  RunSpec spec = hear_run_spec(options, given, replicas);
  // From here on rank 0 heeds signals, and ends the others.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) ::signal(signal, SIG_IGN);
  Run(options, std::move(spec), replicas, scorer, log).obey();
  return 0;
}

}  // namespace

int train(TrainOptions& options, Options& given, const std::string& command,
          const MakeTranslationScorer& scorer, Team& team, const Log& log) {
  ignore_sigpipe();
  const Replicas replicas(team.join(), options);
  if (!replicas.leads()) return follow(options, given, scorer, replicas, log);
  return options.resume.empty() ? start(options, given, command, scorer, replicas, log)
                                : resume(options, given, scorer, replicas, log);
}

}  // namespace tx
