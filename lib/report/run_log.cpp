#include "lib/report/run_log.h"

#include <array>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/io.h"

namespace tx {

namespace {

// Means of several lines are means of these; of the others the last line's value counts.
const std::vector<const char*> means = {"loss", "perplexity", "gradient_norm", "tokens_per_second"};
constexpr const char* guided = "guided_loss";  // a mean that few runs have
constexpr std::array lasts = {"step", "epoch", "learning_rate", "tokens", "skipped", "seconds"};

Json number_of(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number() ? *found : Json();
}

Json mean_of(const std::vector<Json>& lines, const char* key) {
  double sum = 0;
  int64_t count = 0;
  for (const Json& line : lines) {
    const Json x = number_of(line, key);
    if (x.is_null()) continue;
    sum += x.get<double>();
    ++count;
  }
  return count == 0 ? Json() : Json(sum / double(count));
}

// Lines of steps in columns.
void take_steps(const std::vector<Json>& lines, RunLog& run) {
  run.together = std::max<int64_t>(1, (int64_t(lines.size()) - 1) / max_log_entries + 1);
  std::vector<const char*> averaged = means;
  if (!lines.empty() && lines.back().contains(guided)) averaged.push_back(guided);
  for (const char* key : lasts) run.steps[key] = Json::array();
  for (const char* key : averaged) run.steps[key] = Json::array();
  std::vector<Json> group;
  for (size_t i = 0; i < lines.size(); ++i) {
    group.push_back(lines[i]);
    if (int64_t(group.size()) < run.together && i + 1 < lines.size()) continue;
    for (const char* key : lasts) run.steps[key].push_back(number_of(group.back(), key));
    for (const char* key : averaged) run.steps[key].push_back(mean_of(group, key));
    group.clear();
  }
}

void take_line(Json line, const std::string& where, std::vector<Json>& steps, RunLog& run) {
  if (!line.is_object() || number_of(line, "step").is_null())
    throw DataError(where + ": is not a line of a run's log: it has no number \"step\"");
  if (line.contains("incident")) {
    if (number_of(line, "at_step").is_null()) throw DataError(where + ": has no at_step");
    run.incidents.push_back(std::move(line));
  } else if (line.contains("checkpoint")) {
    run.checkpoints.push_back(std::move(line));
  } else if (line.contains("validation_loss") || line.contains("validation_score")) {
    run.validations.push_back(std::move(line));
  } else if (line.contains("loss")) {
    steps.push_back(std::move(line));
  }
}

}  // namespace

RunLog read_run_log(const std::string& directory) {
  RunLog run;
  run.name = directory;
  const std::string config_name = directory + "/config.json", log_name = directory + "/log.jsonl";
  const Json config = parse_json(read_file(config_name, 1 << 24), config_name);
  if (!config.is_object() || !config.contains("options") || !config["options"].is_object())
    throw DataError(config_name + ": has no options; is this the directory of a run?");
  run.options = config["options"];
  const auto command = config.find("command");
  if (command != config.end() && command->is_string()) run.command = command->get<std::string>();
  const std::string text = read_file(log_name);
  std::vector<Json> steps;
  int64_t number = 0;
  for (size_t at = 0, end; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    const std::string where = log_name + ":" + std::to_string(++number);
    take_line(parse_json(std::string_view(text).substr(at, end - at), where), where, steps, run);
  }
  take_steps(steps, run);
  return run;
}

}  // namespace tx
