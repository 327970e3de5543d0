#include "lib/checkpoint/average.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <span>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/io.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/run_checkpoints.h"
#include "lib/checkpoint/transfer.h"
#include "lib/model/config.h"

namespace tx {

namespace {

using Models = std::vector<std::unique_ptr<ModelReader>>;

std::string describe(const TensorInfo& t) { return t.dtype + " " + shape_text(t.shape); }

// The first difference of the configurations; "" if there is none.
std::string config_difference(const ModelReader& a, const ModelReader& b) {
  const Json first = a.config().to_json(), other = b.config().to_json();
  for (const auto& [key, value] : first.items())
    if (other.at(key) != value)
      return "its " + key + " is " + to_text(other.at(key)) + " instead of " + to_text(value);
  return "";
}

std::string vocabulary_difference(const ModelReader& a, const ModelReader& b) {
  if (a.vocabularies().size() != b.vocabularies().size()) return "";  // config_difference() reports
  for (size_t side = 0; side < a.vocabularies().size(); ++side) {
    const Vocabulary &ours = a.vocabularies()[side], &other = b.vocabularies()[side];
    if (ours.bytes() != other.bytes())
      return std::string("its ") + a.config().side_name(side) + " vocabulary differs (" +
             std::to_string(other.size()) + " and " + std::to_string(ours.size()) + " entries)";
  }
  return "";
}

// ModelReader has checked each file against its configuration.
std::string tensor_difference(const ModelReader& a, const ModelReader& b) {
  for (const ParameterEntry& e : a.table()) {
    const TensorInfo* ours = a.file().find(e.name);
    const TensorInfo* other = b.file().find(e.name);
    if (other == nullptr) return "its tensor " + e.name + " is missing";
    if (other->shape != ours->shape)
      return "its tensor " + e.name + " is " + describe(*other) + " instead of " + describe(*ours);
  }
  for (const ParameterEntry& e : b.table())
    if (a.file().find(e.name) == nullptr) return "it has the tensor " + e.name;
  return "";
}

void check_compatible(const ModelReader& a, const ModelReader& b) {
  std::string all;
  for (const auto& difference : {config_difference, vocabulary_difference, tensor_difference}) {
    const std::string one = difference(a, b);
    if (!one.empty()) all += (all.empty() ? "" : "; ") + one;
  }
  if (!all.empty()) throw DataError(b.path() + " cannot be averaged with " + a.path() + ": " + all);
}

constexpr int64_t chunk = 1 << 14;  // elements of a tensor per model; all fit in the cache

// Adds sums.size() elements of a tensor, starting at `from`, to `sums`.
void add_values(const ModelReader& model, const std::string& name, int64_t from,
                std::vector<double>& values, std::span<double> sums) {
  const TensorInfo& t = *model.file().find(name);
  to_doubles(model.file().data(t) + from * element_size(t.dtype), t.dtype, int64_t(sums.size()),
             values.data());
  bool finite = true;
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i] += values[i];
    finite &= std::isfinite(values[i]);
  }
  if (!finite)
    throw DataError(model.path() + ": the tensor " + name +
                    " has values that are not finite (NaN or infinity); average earlier models");
}

// The mean of a tensor over all models, which must outlive the result.
WeightRows mean_rows(const Models& models, const ParameterEntry& entry) {
  return {entry.padded_rows, entry.cols,
          [&models, &entry](int64_t first, int64_t count, float* to) {
            std::vector<double> values(static_cast<size_t>(chunk)), sums;
            const int64_t begin = first * entry.cols, end = begin + count * entry.cols;
            const int64_t own = std::clamp(entry.rows * entry.cols, begin, end);
            for (int64_t from = begin; from < own; from += chunk) {
              sums.assign(size_t(std::min(chunk, own - from)), 0.0);
              for (const auto& model : models) add_values(*model, entry.name, from, values, sums);
              for (const double sum : sums) *to++ = float(sum / double(models.size()));
            }
            std::fill(to, to + (end - own), 0.0f);
          }};
}

// Vectors and learned positions are always fp32.
void add_tensors(std::vector<TensorSource>& to, const ParameterEntry& entry, const WeightRows& rows,
                 DType precision) {
  if (precision == DType::i8 && is_quantised(entry)) {
    for (TensorSource& tensor : int8_tensors(entry, rows)) to.push_back(std::move(tensor));
    return;
  }
  const bool narrow = precision == DType::bf16 && !entry.vector && !entry.lookup;
  to.push_back(float_tensor(entry, rows, narrow ? "BF16" : "F32"));
}

Json input_provenance(const std::string& name, const ModelReader& model) {
  Json input{{"file", name}, {"xxh3", model.checksum()}};
  for (const char* key : {"step", "validation_loss"})
    if (model.provenance().contains(key)) input[key] = model.provenance()[key];
  return input;
}

// Provenance that differs between the checkpoints of one run.
bool is_of_checkpoint(const std::string& key) {
  return key == "step" || key == "tokens" || key.starts_with("validation_");
}

// The provenance that all inputs share.
Json common_provenance(const Models& models) {
  Json common = models[0]->provenance();
  for (const auto& model : models) {
    const Json& other = model->provenance();
    Json kept = Json::object();
    for (const auto& [key, value] : common.items())
      if (!is_of_checkpoint(key) && other.contains(key) && other[key] == value) kept[key] = value;
    common = std::move(kept);
  }
  return common;
}

// Without the output's name, so that the bytes of the file do not depend on it.
std::string command_of(const AverageOptions& options) {
  std::string command = "tx-avg";
  if (options.last) command += " --last " + std::to_string(*options.last);
  if (options.best) command += " --best " + std::to_string(*options.best);
  if (options.to != DType::f32) command += " --to " + options.to.name;
  for (const std::string& input : options.inputs) command += " " + input;
  return command;
}

Json provenance_of_mean(const AverageOptions& options, const std::vector<std::string>& files,
                        const Models& models) {
  Json inputs = Json::array();
  for (size_t i = 0; i < models.size(); ++i)
    inputs.push_back(input_provenance(files[i], *models[i]));
  return Json{{"command", command_of(options)},
              {"inputs", std::move(inputs)},
              {"common", common_provenance(models)}};
}

// At most one warning, which names the first pair.
void warn_of_duplicates(const Models& models, const Log& log) {
  std::map<std::string, const ModelReader*> different;
  std::string first;
  for (const auto& model : models) {
    const auto [same, is_new] = different.emplace(model->checksum(), model.get());
    if (!is_new && first.empty())
      first = model->path() + " holds the same weights as " + same->second->path();
  }
  const size_t duplicates = models.size() - different.size();
  if (duplicates == 1) log.warn(first + "; these weights count twice");
  if (duplicates > 1)
    log.warn(first + "; only " + std::to_string(different.size()) + " of the " +
             std::to_string(models.size()) + " models are distinct");
}

// Weights of independent runs do not correspond.
void warn_of_seeds(const Models& models, const Log& log) {
  const Json none, first = models.front()->provenance().value("seed", none);
  for (const auto& model : models) {
    const Json other = model->provenance().value("seed", none);
    if (first == none || other == none || other == first) continue;
    return log.warn(model->path() + " was trained with seed " + to_text(other) + ", " +
                    models.front()->path() + " with seed " + to_text(first) +
                    ": their average is useless unless both runs started from one model (--init)");
  }
}

// --best chooses among what is left: warns if the log has a better checkpoint than `step`.
void warn_of_pruned(const std::string& run, const std::string& metric, int64_t step,
                    const Log& log) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(run + "/log.jsonl", error)) return;
  const std::string key = "validation_" + (metric == command_metric ? "score" : metric);
  std::map<int64_t, double> scores;
  std::vector<int64_t> removed;
  LineReader reader(run + "/log.jsonl");
  for (std::string line; reader.next(line);) {
    const Json json = Json::parse(line, nullptr, false), none;
    if (!json.is_object() || !json.value("step", none).is_number_integer()) continue;
    const int64_t at = json["step"].get<int64_t>();
    if (json.value(key, none).is_number())
      scores[at] = (lower_is_better(metric) ? 1 : -1) * json[key].get<double>();
    if (json.contains("checkpoint") && !file_exists(checkpoint_file(run, "model", at)))
      removed.push_back(at);
  }
  for (const int64_t at : removed)
    if (scores.count(at) && scores.count(step) && scores[at] < scores[step])
      return log.warn("--best: " + run + " no longer has the checkpoint of step " +
                      std::to_string(at) + ", which was better than that of step " +
                      std::to_string(step) + "; tx-train --keep keeps more");
}

// `metric`: the metric that ranks the models; "" without ranking.
[[noreturn]] void too_few(const std::string& option, int wanted, const std::string& run,
                          size_t found, const std::string& metric) {
  const std::string what = metric.empty()             ? ""
                           : metric == command_metric ? " with a score of --valid-command"
                                                      : " with a validation " + metric;
  const std::string models = found == 0 ? "no model" : "only " + counted(int64_t(found), "model");
  const std::string advice = found == 0 ? "" : "; use " + option + " " + std::to_string(found);
  throw DataError(option + " " + std::to_string(wanted) + ": " + run + " holds " + models + what +
                  advice);
}

}  // namespace

void AverageOptions::describe(Options& options) {
  options.usage("tx-avg [OPTION]... -o FILE MODEL...");
  options.usage("tx-avg --last N|--best N [OPTION]... -o FILE RUN");
  options.group("Input");
  options
      .positional("MODEL", inputs, "model file, or run directory",
                  "A run directory stands for its best model, or its last if there is no best.")
      .must()
      .input();
  options
      .add("--last", last, "N", "average the last N checkpoints of a run directory",
           "The model of step 0 is not counted.")
      .range(1, 1000000)
      .excludes({"--best"});
  options
      .add("--best", best, "N", "average the N checkpoints with the best validation results",
           "By the criterion of the newest model: --valid-metric, the score of --valid-command, or "
           "else the validation loss. Models with another criterion are not counted.")
      .range(1, 1000000)
      .excludes({"--last"});
  options.group("Output");
  options.add("-o,--out", out, "FILE", "output file").must().output();
  options.add(
      "--to", to, "type of the weights in the file",
      "bf16 halves the size of the file, int8 quarters it. An int8 file is memory-mapped: it "
      "loads faster, and processes share its memory. It cannot be averaged or trained "
      "further. Biases and norms stay fp32.");
  options.flag("-q,--quiet", quiet, "do not list the models averaged");
}

std::vector<std::string> models_to_average(const AverageOptions& options, const Log& log) {
  if (!options.last && !options.best) {
    std::vector<std::string> files;
    for (const std::string& input : options.inputs) files.push_back(resolve_model(input));
    return files;
  }
  const std::string option = options.last ? "--last" : "--best";
  const std::string& run = options.inputs.at(0);
  if (options.inputs.size() != 1 || (file_exists(run) && !is_directory(run)))
    throw UsageError(option + " needs one run directory; to average model files, omit " + option);
  const size_t wanted = size_t(options.last ? *options.last : *options.best);
  std::vector<int64_t> steps = checkpoint_steps(run, "model");
  std::erase(steps, 0);  // the initial, untrained model
  std::string metric;
  if (options.best) {
    Ranking ranking = rank_checkpoints(run, steps);
    metric = ranking.metric;
    steps = std::move(ranking.steps);
  }
  if (steps.size() < wanted) too_few(option, int(wanted), run, steps.size(), metric);
  if (options.best) {
    steps.resize(wanted);
    warn_of_pruned(run, metric, steps.back(), log);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(steps.begin(), steps.end() - ptrdiff_t(wanted));
  std::vector<std::string> files;
  for (const int64_t step : steps) files.push_back(checkpoint_file(run, "model", step));
  return files;
}

namespace {

// Opens the models and sets `files` to their names.
Models open_models(const AverageOptions& options, std::vector<std::string>& files, const Log& log) {
  Models models;
  files = models_to_average(options, log);
  for (const std::string& file : files) models.push_back(std::make_unique<ModelReader>(file));
  return models;
}

}  // namespace

void average_models(const AverageOptions& options, const Log& log) {
  check_replaceable(options.out);
  std::vector<std::string> files;
  Models models;
  try {
    models = open_models(options, files, log);
  } catch (const IoError& error) {  // a training that is running may just have removed one
    if (error.error_number != ENOENT || !(options.last || options.best)) throw;
    models = open_models(options, files, log);
  }
  for (const auto& model : models) {
    if (model->has_int8())
      throw DataError(model->path() + " holds 8-bit weights, which cannot be averaged; give the " +
                      "model that it was made from");
    check_compatible(*models.front(), *model);
  }
  warn_of_duplicates(models, log);
  warn_of_seeds(models, log);
  ModelContent content{models[0]->config(),
                       models[0]->vocabularies(),
                       provenance_of_mean(options, files, models),
                       {}};
  for (const ParameterEntry& e : models[0]->table())
    add_tensors(content.weights, e, mean_rows(models, e), options.to);
  write_model(options.out, std::move(content));
  for (const std::string& file : files) log.info("averaged " + file);
}

}  // namespace tx
