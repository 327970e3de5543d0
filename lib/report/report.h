// tx-train --report: a page about one or more runs.
#pragma once
#include <string>
#include <vector>

#include "lib/base/json.h"
#include "lib/cli/options.h"
#include "lib/model/config.h"
#include "lib/train/options/options.h"
#include "lib/train/plan/described.h"

namespace tx {

// The options of tx-train's pages.
struct ReportOptions {
  bool report = false;
  std::vector<std::string> runs;
  std::string html, tsv;  // of --describe
  void describe(Options& options);
};

// The config.json and log.jsonl of a run directory, tx-run(5).
struct RunLog {
  std::string name;     // the directory as given
  std::string command;  // that started it
  Json options;         // of config.json
  // The lines of steps as {"step": [...], "loss": [...], ...}, null for missing numbers. An entry
  // summarises `together` lines: the mean, or the last value of step, seconds and the like.
  Json steps;
  int64_t together = 1;
  // Validations (with scores of --valid-command), checkpoints, and incidents (failed steps).
  Json validations = Json::array(), checkpoints = Json::array(), incidents = Json::array();
};

// Maximum number of entries per run.
constexpr int64_t max_log_entries = 4000;

// IoError: a file cannot be read. DataError, naming file and line: a line is not an object with a
// number `step`. Ignores a last line without '\n', which a run is still writing.
RunLog read_run_log(const std::string& directory);

// The page's data: the runs, the options in which they differ, and the common ones.
Json report_data(const std::vector<RunLog>& runs);

// Reads the runs and writes the page to `out`. UsageError: no runs, or no `out`.
void write_report(const std::vector<std::string>& runs, const std::string& out);

// The page's data.
Json describe_data(const DescribedRun& run);

// Writes the page to `out` ("-": standard output).
void write_description(const DescribedRun& run, const std::string& out);

// [step, learning rate] for about 400 steps from 1 to `steps`, with the end of the warm-up.
Json learning_rates(const TrainOptions& options, int64_t d_model, int64_t steps);

// The tables of --tsv. A table has a header; its columns are separated by tabs.
enum class DescribeTable {
  schedule,    // the learning rate of each step
  positions,   // PE(position), a row for each position of the longest sentence
  similarity,  // the cosine of PE(row) and PE(column)
  rotation     // for each pair of features, its wavelength and the largest difference between
               // PE(pos + k) and R(k) PE(pos) over all pos and k (tx-paper(7), 3.5)
};
template <>
inline constexpr const char* name_table<DescribeTable>[] = {"schedule", "positions", "similarity",
                                                            "rotation"};
// Writes a table to standard output. UsageError: the model has no sinusoids.
void write_table(DescribeTable table, const DescribedModel& described);

}  // namespace tx
