#include "lib/checkpoint/run_checkpoints.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/split.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/state_file.h"

namespace tx {

namespace {

constexpr std::string_view suffix = ".safetensors";

// The step in "KIND-STEP.safetensors"; -1 for any other name, such as one with leading zeros.
int64_t step_of(std::string_view name, const std::string& kind) {
  const size_t before = kind.size() + 1;
  if (name.size() <= before + suffix.size() || !name.starts_with(kind + "-") ||
      !name.ends_with(suffix))
    return -1;
  const std::string_view digits = name.substr(before, name.size() - before - suffix.size());
  int64_t step = -1;
  return parse_number(digits, step) && std::to_string(step) == digits ? step : -1;
}

}  // namespace

std::string checkpoint_file(const std::string& run, const std::string& kind, int64_t step) {
  return run + "/" + kind + "-" + std::to_string(step) + std::string(suffix);
}

std::vector<int64_t> checkpoint_steps(const std::string& run, const std::string& kind) {
  std::error_code error;
  std::filesystem::directory_iterator entry(run, error);
  std::vector<int64_t> steps;
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const int64_t step = step_of(entry->path().filename().native(), kind);
    if (step >= 0) steps.push_back(step);
  }
  if (error) throw IoError("read", run, error.value());
  std::sort(steps.begin(), steps.end());
  return steps;
}

namespace {

// The score of a checkpoint, comparable under one criterion: the validation text or the command.
struct Recorded {
  std::string metric;
  Json criterion;
  std::optional<double> score;
};

std::optional<double> number(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string metric_of(const Json& provenance) {
  const auto found = provenance.find("validation_metric");
  return found != provenance.end() && found->is_string() ? found->get<std::string>()
                                                         : validation_metrics().front();
}

Recorded recorded(const std::string& run, int64_t step, const std::string& metric) {
  if (metric == command_metric) {
    const std::string path = checkpoint_file(run, "state", step);
    const Json state = file_exists(path) ? read_state(path) : Json::object();
    return {metric, state.value("criterion", Json()), number(state, "score")};
  }
  const Json provenance = provenance_of(SafetensorsReader(checkpoint_file(run, "model", step)));
  const Json text = is_translated(metric) ? provenance.value("validation_lines", Json()) : Json();
  return {metric, text, number(provenance, "validation_" + metric)};
}

}  // namespace

const std::vector<std::string>& validation_metrics() {
  static const std::vector<std::string> names = {"loss", "perplexity", "accuracy", "bleu", "chrf"};
  return names;
}

bool is_translated(const std::string& metric) { return metric == "bleu" || metric == "chrf"; }

bool lower_is_better(const std::string& metric) {
  return metric == "loss" || metric == "perplexity";
}

Ranking rank_checkpoints(const std::string& run, const std::vector<int64_t>& steps) {
  if (steps.empty()) return {validation_metrics().front(), {}};
  const std::string newest = checkpoint_file(run, "model", steps.back());
  const std::string metric = metric_of(provenance_of(SafetensorsReader(newest)));
  std::vector<std::pair<double, int64_t>> scored;
  Json criterion;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const Recorded r = recorded(run, *step, metric);
    if (!r.score || !std::isfinite(*r.score)) continue;
    if (scored.empty()) criterion = r.criterion;
    if (r.criterion != criterion) continue;
    scored.emplace_back(lower_is_better(metric) ? *r.score : -*r.score, *step);
  }
  std::sort(scored.begin(), scored.end());
  Ranking ranking{metric, {}};
  for (const auto& [score, step] : scored) ranking.steps.push_back(step);
  return ranking;
}

}  // namespace tx
