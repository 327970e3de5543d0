// tx-train: train a Transformer on parallel or monolingual text.
#include <string>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/base/log.h"
#include "lib/base/split.h"
#include "lib/checkpoint/state_file.h"
#include "lib/cli/options.h"
#include "lib/diagnose/training.h"
#include "lib/ranks/communicator.h"
#include "lib/report/report.h"
#include "lib/train/input/run_directory.h"
#include "lib/train/plan/described.h"
#include "lib/train/plan/resolve.h"
#include "lib/train/ranks/replicas.h"
#include "lib/train/run/trainer.h"

namespace {

// Defaults come from --preset, then --config or the run to resume; options given override both.
void set_defaults(tx::TrainOptions& settings, int argc, char** argv) {
  const std::string name = tx::peek_option(argc, argv, "preset");
  if (name.empty() || !tx::peek_option(argc, argv, "resume").empty()) return;
  const auto preset = tx::find_value<tx::Preset>(name);
  if (!preset)
    throw tx::UsageError("--preset " + name +
                         ": choose auto, base, big, small, tiny, modern or toy");
  settings.apply_preset(*preset);
}

// A configuration that this user's tx-train did not write here may come from anybody: it runs no
// command and names no directory to write to.
void distrust(tx::TrainOptions& settings, const tx::Options& options, const std::string& file) {
  const size_t slash = file.rfind('/');
  if (slash != file.npos && file.substr(slash) == "/config.json" &&
      tx::RunDirectory::wrote_config(file.substr(0, slash)))
    return;
  if (!settings.valid_command.empty() && !options.given("valid-command"))
    throw tx::UsageError(file +
                         " has a --valid-command, but was not written here by your tx-train: "
                         "check the command, and give it yourself: --valid-command " +
                         tx::shell_word(settings.valid_command));
  if (!options.given("cache")) settings.cache.clear();
}

void read_config(tx::TrainOptions& settings, tx::Options& options) {
  if (!settings.replay.empty()) {
    settings.replay = tx::resolve_flight(settings.replay);
    const tx::FlightReader flight(settings.replay);
    options.from_json(tx::json_value<tx::Json>(flight.facts(), "options", settings.replay),
                      settings.replay);
    return;
  }
  const std::string& run = settings.resume;
  const bool of_run = run.empty() && tx::is_directory(settings.config);
  const std::string file = !run.empty() ? run + "/config.json"
                           : of_run     ? settings.config + "/config.json"
                                        : settings.config;
  if (file.empty()) return;
  tx::Json config;
  if (run.empty())
    config = tx::parse_json(
        of_run ? tx::read_regular_file(file, 1 << 24) : tx::read_file(file, 1 << 24), file);
  else if (tx::follows() || settings.describe_only)  // only rank 0 opens the run directory
    config = tx::RunDirectory::read_config(run);
  else
    config = tx::RunDirectory::open(run).read_config();
  const tx::Json& all = config.contains("options") ? config["options"] : config;
  if (run.empty() && all.contains("preset") && options.given("preset"))
    throw tx::UsageError("--preset cannot be used with --config " + file +
                         ", which has a preset of its own: leave one of them out");
  options.from_json(all, file);
  if (run.empty() && all.contains("preset"))  // which the file may name without its settings
    tx::take_preset(options, settings, settings.preset);
  distrust(settings, options, file);
}

// Returns the options not to check yet, because they depend on a preset that is chosen later.
std::vector<std::string> configure(tx::TrainOptions& settings, tx::Options& options) {
  read_config(settings, options);
  const bool open = settings.replay.empty() && tx::preset_is_open(settings, options);
  if (!open || options.chosen("schedule")) return {};
  return {"schedule"};
}

int describe(const tx::TrainOptions& settings, const tx::Options& options,
             const tx::ReportOptions& pages, int ranks, const tx::Log& log) {
  if (!pages.tsv.empty()) {
    tx::write_table(tx::value_of_name<tx::DescribeTable>(pages.tsv),
                    tx::describe_model(settings, options, log));
    return 0;
  }
  const auto& scorer = tx::make_translation_scorer;
  const tx::DescribedRun run = tx::describe_run(settings, options, scorer, ranks, log);
  if (!pages.html.empty()) {
    tx::write_description(run, pages.html);
    return 0;
  }
  tx::Writer out("-");
  out.write(tx::description(run));
  out.close();
  return 0;
}

// Modes that need one process: only rank 0 runs them.
bool of_one_rank(const tx::TrainOptions& settings, const tx::ReportOptions& pages) {
  return pages.report || settings.selftest_resume || !settings.replay.empty() ||
         !pages.html.empty() || settings.describe_only || settings.parity;
}

int run(int argc, char** argv, tx::Job& job) {
  tx::TrainOptions settings;
  tx::Options options("tx-train", "train a Transformer on parallel or monolingual text");
  options.version(
      [] { return tx::describe_backends() + tx::describe_ranks() + tx::describe_movers(); });
  set_defaults(settings, argc, argv);
  settings.describe(options);
  tx::ReportOptions pages;
  pages.describe(options);
  if (!options.parse(argc, argv, [&] { return configure(settings, options); })) return 0;
  const tx::Log log("tx-train", settings.quiet, tx::follows());
  const int ranks = tx::started_ranks();
  if (of_one_rank(settings, pages) && job.left_to_rank_0()) return 0;
  if (pages.report) return tx::write_report(pages.runs, settings.out), 0;
  if (settings.selftest_resume) return tx::selftest_resume(settings, {argv, argv + argc}, log);
  if (!settings.replay.empty()) return tx::replay(settings, log);  // its options were resolved
  const tx::TrainOptions resolved = tx::resolve_run(settings, options, log);
  if (resolved.describe_only) return describe(resolved, options, pages, ranks, log);
  if (resolved.parity) return tx::parity(resolved, options, log);
  return tx::train(resolved, options, tx::command_line(argc, argv), tx::make_translation_scorer,
                   job, log);
}

}  // namespace

int main(int argc, char** argv) {
  return tx::run_tool("tx-train", [&] {
    return tx::run_as_rank("tx-train", [&](tx::Job& job) { return run(argc, argv, job); });
  });
}
