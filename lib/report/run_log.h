// A run as its directory tells it, tx-run(5): config.json and log.jsonl, for pages.
#pragma once
#include <string>

#include "lib/base/json.h"

namespace tx {

struct RunLog {
  std::string name;     // the directory as the user named it
  std::string command;  // that began it
  Json options;         // of config.json
  // Lines of steps as {"step": [...], "loss": [...], ...}, null where a number is missing; each
  // entry stands for `together` lines: the mean, of steps, seconds and the like the last.
  Json steps;
  int64_t together = 1;
  // The other lines as the log has them: of validations, with the score of --valid-command among
  // them, of saves, and of steps that went wrong.
  Json validations = Json::array(), checkpoints = Json::array(), incidents = Json::array();
};

// Entries that a run has at most.
constexpr int64_t max_log_entries = 4000;

// IoError where a file cannot be read, DataError where a line is not an object with a number
// `step`; names file and line. A last line without '\n', which a run is just writing, is passed
// over.
RunLog read_run_log(const std::string& directory);

}  // namespace tx
