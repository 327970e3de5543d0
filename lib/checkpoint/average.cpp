#include "lib/checkpoint/average.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/run_files.h"

namespace tx {

namespace {

using Models = std::vector<std::unique_ptr<ModelReader>>;

std::string describe(const TensorInfo& t) {
  std::string text = t.dtype + " [";
  for (size_t i = 0; i < t.shape.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(t.shape[i]);
  return text + "]";
}

// The first member of the configuration in which two models differ; "" when there is none.
std::string config_difference(const ModelReader& a, const ModelReader& b) {
  const Json first = a.config().to_json(), other = b.config().to_json();
  for (const auto& [key, value] : first.items())
    if (other.at(key) != value)
      return "its " + key + " is " + to_text(other.at(key)) + " instead of " + to_text(value);
  return "";
}

std::string vocabulary_difference(const ModelReader& a, const ModelReader& b) {
  if (a.source()->bytes() != b.source()->bytes())
    return "its source vocabulary is another (" + std::to_string(b.source()->size()) + " and " +
           std::to_string(a.source()->size()) + " entries)";
  if (a.target()->bytes() != b.target()->bytes())
    return "its target vocabulary is another (" + std::to_string(b.target()->size()) + " and " +
           std::to_string(a.target()->size()) + " entries)";
  return "";
}

bool is_vocabulary(const TensorInfo& t) { return t.name.starts_with("vocabulary"); }

std::string tensor_difference(const ModelReader& a, const ModelReader& b) {
  for (const TensorInfo& t : a.file().tensors()) {
    if (is_vocabulary(t)) continue;
    const TensorInfo* other = b.file().find(t.name);
    if (!other) return "its tensor " + t.name + " is missing";
    if (other->shape != t.shape || other->dtype != t.dtype)
      return "its tensor " + t.name + " is " + describe(*other) + " instead of " + describe(t);
  }
  for (const TensorInfo& t : b.file().tensors())
    if (!is_vocabulary(t) && !a.file().find(t.name))
      return "its tensor " + t.name + " is one too many";
  return "";
}

void check_alike(const ModelReader& a, const ModelReader& b) {
  std::string all;
  for (const auto& difference : {config_difference, vocabulary_difference, tensor_difference}) {
    const std::string one = difference(a, b);
    if (!one.empty()) all += (all.empty() ? "" : "; ") + one;
  }
  if (!all.empty())
    throw DataError(b.path() + " cannot be averaged with " + a.path() + ": " + all);
}

// One tensor of every model, and the sums of a part of it.
class Mean {
 public:
  Mean(const Models& models, const TensorInfo& tensor) : models_(models), tensor_(tensor) {
    if (tensor.dtype != "F32")
      throw DataError(models[0]->path() + ": tensor " + tensor.name + " is " + tensor.dtype +
                      "; weights must be F32");
  }

  void produce(const ByteSink& sink) const {
    std::vector<double> sums;
    std::vector<float> values(chunk);
    const int64_t count = tensor_.elements();
    for (int64_t from = 0; from < count; from += chunk) {
      const size_t n = size_t(std::min(chunk, count - from));
      sums.assign(n, 0.0);
      for (const auto& model : models_) add(*model, from, n, values, sums);
      for (size_t i = 0; i < n; ++i) values[i] = float(sums[i] / double(models_.size()));
      sink(values.data(), n * sizeof(float));
    }
  }

 private:
  static constexpr int64_t chunk = 1 << 14;  // of every model one piece after another in the cache

  void add(const ModelReader& model, int64_t from, size_t n, std::vector<float>& values,
           std::vector<double>& sums) const {
    const char* bytes = model.file().data(*model.file().find(tensor_.name));
    std::memcpy(values.data(), bytes + size_t(from) * sizeof(float), n * sizeof(float));
    bool finite = true;
    for (size_t i = 0; i < n; ++i) {
      sums[i] += values[i];
      finite &= std::isfinite(values[i]);
    }
    if (!finite)
      throw DataError(model.path() + ": tensor " + tensor_.name +
                      " holds values that are not finite; average models from before that");
  }

  const Models& models_;
  const TensorInfo& tensor_;
};

Json input_provenance(const std::string& name, const ModelReader& model) {
  Json input{{"file", name}, {"xxh3", model.checksum()}};
  for (const char* key : {"step", "validation_loss"})
    if (model.provenance().contains(key)) input[key] = model.provenance()[key];
  return input;
}

// Members that tell of a moment, not of a training.
bool is_momentary(const std::string& key) {
  return key == "step" || key == "tokens" || key.starts_with("validation_");
}

// What the trainings of all inputs agree on.
Json common_provenance(const Models& models) {
  Json common = models[0]->provenance();
  for (const auto& model : models) {
    const Json& other = model->provenance();
    Json kept = Json::object();
    for (const auto& [key, value] : common.items())
      if (!is_momentary(key) && other.contains(key) && other[key] == value) kept[key] = value;
    common = std::move(kept);
  }
  return common;
}

// As in tx-train's, the output's name is left out: the same average elsewhere has the same bytes.
std::string command_of(const AverageOptions& options) {
  std::string command = "tx-avg";
  if (options.last) command += " --last " + std::to_string(*options.last);
  if (options.best) command += " --best " + std::to_string(*options.best);
  for (const std::string& input : options.inputs) command += " " + input;
  return command;
}

Json provenance_of(const AverageOptions& options, const std::vector<std::string>& files,
                   const Models& models) {
  Json inputs = Json::array();
  for (size_t i = 0; i < models.size(); ++i)
    inputs.push_back(input_provenance(files[i], *models[i]));
  return Json{{"command", command_of(options)},
              {"inputs", std::move(inputs)},
              {"common", common_provenance(models)}};
}

void warn_of_twins(const Models& models, const Log& log) {
  for (size_t i = 0; i < models.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (models[i]->checksum() == models[k]->checksum())
        log.warn(models[i]->path() + " holds the same weights as " + models[k]->path() +
                 ": they count twice");
}

// The loss that a model's provenance gives, NaN where it gives none. The header alone is read.
double validation_loss(const std::string& path) {
  const SafetensorsReader file(path);
  const auto at = file.metadata().find("provenance");
  if (at == file.metadata().end()) return NAN;
  const Json provenance = parse_json(at->second, path);
  if (!provenance.is_object() || !provenance.contains("validation_loss")) return NAN;
  const Json& loss = provenance["validation_loss"];
  return loss.is_number() ? loss.get<double>() : NAN;
}

// Sorts the steps by loss, the lowest first; those without one are left out.
std::vector<int64_t> by_loss(const std::string& run, const std::vector<int64_t>& steps) {
  std::vector<std::pair<double, int64_t>> scored;
  for (const int64_t step : steps) {
    const double loss = validation_loss(checkpoint_file(run, "model", step));
    if (std::isfinite(loss)) scored.emplace_back(loss, step);
  }
  std::sort(scored.begin(), scored.end());
  std::vector<int64_t> sorted;
  for (const auto& [loss, step] : scored) sorted.push_back(step);
  return sorted;
}

[[noreturn]] void too_few(const std::string& option, int wanted, const std::string& run,
                          size_t there) {
  const std::string what = option == "--best" ? " with a validation loss" : "";
  const std::string found = there == 0 ? "no model" : there == 1 ? "only 1 model"
                                       : "only " + std::to_string(there) + " models";
  const std::string advice = there == 0 ? "" : "; use " + option + " " + std::to_string(there);
  throw DataError(option + " " + std::to_string(wanted) + ": " + run + " holds " + found + what +
                  advice);
}

}  // namespace

std::vector<std::string> models_to_average(const AverageOptions& options) {
  if (!options.last && !options.best) {
    std::vector<std::string> files;
    for (const std::string& input : options.inputs) files.push_back(resolve_model(input));
    return files;
  }
  if (options.last && options.best)
    throw UsageError("--last and --best exclude each other; choose one");
  const std::string option = options.last ? "--last" : "--best";
  const std::string& run = options.inputs.at(0);
  if (options.inputs.size() != 1 || (file_exists(run) && !is_directory(run)))
    throw UsageError(option + " takes one run directory; to average files, leave it out");
  const size_t wanted = size_t(options.last ? *options.last : *options.best);
  std::vector<int64_t> steps = checkpoint_steps(run, "model");
  std::erase(steps, 0);  // a model that was never trained
  if (options.best) steps = by_loss(run, steps);
  if (steps.size() < wanted) too_few(option, int(wanted), run, steps.size());
  if (options.best) steps.resize(wanted);
  std::sort(steps.begin(), steps.end());
  steps.erase(steps.begin(), steps.end() - ptrdiff_t(wanted));
  std::vector<std::string> files;
  for (const int64_t step : steps) files.push_back(checkpoint_file(run, "model", step));
  return files;
}

void average_models(const AverageOptions& options, const Log& log) {
  const std::vector<std::string> files = models_to_average(options);
  Models models;
  for (const std::string& file : files) {
    models.push_back(std::make_unique<ModelReader>(file));
    check_alike(*models.front(), *models.back());
  }
  warn_of_twins(models, log);
  ModelContent content{models[0]->config(), models[0]->source(), models[0]->target(),
                       provenance_of(options, files, models), {}};
  for (const TensorInfo& t : models[0]->file().tensors()) {
    if (is_vocabulary(t)) continue;
    const Mean mean(models, t);
    content.weights.push_back(
        {t.name, "F32", t.shape, [mean](const ByteSink& sink) { mean.produce(sink); }});
  }
  write_model(options.out, std::move(content));
  for (const std::string& file : files) log.info("averaged " + file);
}

}  // namespace tx
