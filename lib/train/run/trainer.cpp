#include "lib/train/run/trainer.h"

#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/state_file.h"
#include "lib/train/options/preset.h"
#include "lib/train/options/run_options.h"
#include "lib/train/options/schedule.h"
#include "lib/train/options/vocabulary_fit.h"
#include "lib/train/run/session.h"
#include "lib/train/run/time_budget.h"

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

int run_session(TrainingParts& parts, const TrainOptions& options, const Log& log) {
  const int status = Session(parts, options, log).run();
  parts.leader.end();
  return status;
}

int resume(TrainOptions& options, const Options& given, const MakeTranslationScorer& scorer,
           Leader leader, const Log& log) {
  RunDirectory run = RunDirectory::open(options.resume);
  Json config = run.read_config();
  check_changes(config.at("options"), given, log);
  const int64_t step = newest_whole(run, log);
  note_options(config, given.to_json(), step);
  TrainingData data = reopen_data(options, run, step, config, log);
  data.scorer = scorer;
  TrainingParts parts(options, std::move(run), std::move(data), step, config, log, leader);
  parts.leader.begin(parts, options, given.to_json());
  return run_session(parts, options, log);
}

int start(TrainOptions& options, Options& given, const std::string& command,
          const MakeTranslationScorer& scorer, Leader leader, const Log& log) {
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
  data.scorer = scorer;
  if (preset_is_open(options, given)) {
    settle_preset(options, given, data.corpora, log);
    config["options"] = given.to_json();
  }
  if (options.preset == "modern")
    log.info(
        "models of preset modern are for tx alone: tx-convert cannot write them for another "
        "toolkit, as it can those of preset tiny");
  TrainingParts parts(options, std::move(run), std::move(data), TrainingParts::begin, config, log,
                      leader);
  parts.leader.begin(parts, options, given.to_json());
  if (steps_by_minutes(options, given)) fit_to_minutes(parts, options, given, log);
  check_course(options, parts.corpora.train_lengths(), log);
  return run_session(parts, options, log);
}

}  // namespace

int train(TrainOptions& options, Options& given, const std::string& command,
          const MakeTranslationScorer& scorer, Team& team, const Log& log) {
  ignore_sigpipe();
  World* ranks = team.join();
  if (ranks && ranks->rank() > 0) return follow(*ranks, options, given, scorer);
  Leader leader(ranks);
  leader.check(options);
  leader.divide(options.tensor_parallel);
  return options.resume.empty() ? start(options, given, command, scorer, leader, log)
                                : resume(options, given, scorer, leader, log);
}

}  // namespace tx
