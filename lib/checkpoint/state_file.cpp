#include "lib/checkpoint/state_file.h"

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/run_checkpoints.h"
#include "lib/checkpoint/transfer.h"

namespace tx {

namespace {

constexpr int state_format_version = 1;
constexpr const char* expected_state = "the state-STEP.safetensors of a run";

struct Moment {
  std::string prefix;
  Matrix block;
};

std::vector<Moment> named(const OptimizerState& optimizer, const Parameters& of) {
  const int64_t elements = of.fp32_weights().cols;
  TX_ASSERT(optimizer.first.cols == elements && optimizer.second.cols == elements);
  return {{"m/", optimizer.first}, {"v/", optimizer.second}};
}

void check_format(const SafetensorsReader& file, const std::string& model_checksum) {
  const std::string *format = file.metadata("format"), *model = file.metadata("model_xxh3");
  if (format == nullptr || *format != "tx-state" || model == nullptr)
    throw DataError(file.path() + " is not a training state; expected " + expected_state);
  check_format_version(file, state_format_version);
  file.verified_hash();
  if (*model != model_checksum)
    throw DataError(file.path() + " does not belong to the model of the same step (checksum " +
                    *model + " instead of " + model_checksum +
                    "): one of the two files was replaced");
}

// The checksum covers the data but not the names: checks that there are both moments of every
// parameter, and returns the tensor of the JSON text.
const TensorInfo& check_tensors(const SafetensorsReader& file,
                                const std::vector<ParameterEntry>& table) {
  const TensorInfo* text = file.find("state");
  if (text == nullptr || text->dtype != "U8" || file.tensors().size() != 2 * table.size() + 1)
    throw DataError(file.path() + ": its tensors do not match the configuration of the model");
  for (const char* prefix : {"m/", "v/"}) {
    for (const ParameterEntry& e : table) {
      const TensorInfo* tensor = file.find(prefix + e.name);
      if (tensor == nullptr || tensor->shape != file_shape(e))
        throw DataError(file.path() + ": the tensor " + prefix + e.name +
                        " is missing or has the wrong shape");
    }
  }
  return *text;
}

}  // namespace

// The JSON is stored as a tensor, so that the checksum covers it.
void save_state(const std::string& path, const Parameters& parameters,
                const OptimizerState& optimizer, const Json& state,
                const std::string& model_checksum) {
  std::vector<TensorSource> tensors;
  for (const auto& [prefix, block] : named(optimizer, parameters))
    for (const ParameterEntry& e : parameters.table())
      tensors.push_back(
          entry_tensor(parameters, block, e, prefix + e.name, exact_dtype(block.dtype)));
  const std::string text = to_text(state);
  tensors.push_back(byte_tensor("state", text));
  write_safetensors(path, std::move(tensors),
                    {{"format", "tx-state"},
                     {"format_version", std::to_string(state_format_version)},
                     {"model_xxh3", model_checksum}});
}

void check_state(const std::string& path, const ModelConfig& config,
                 const std::string& model_checksum) {
  const SafetensorsReader file(path, expected_state);
  check_format(file, model_checksum);
  check_tensors(file, parameter_table(config));
}

Json load_state(const std::string& path, const Parameters& parameters,
                const OptimizerState& optimizer, const std::string& model_checksum) {
  const SafetensorsReader file(path, expected_state);
  check_format(file, model_checksum);
  const TensorInfo& text = check_tensors(file, parameters.table());
  const std::string_view bytes(file.data(text), size_t(text.bytes()));
  Json state = parse_json(bytes, path + ": state");
  for (const auto& [prefix, block] : named(optimizer, parameters)) {
    for (const ParameterEntry& e : parameters.table()) {
      const TensorInfo& tensor = *file.find(prefix + e.name);
      if (tensor.dtype != exact_dtype(block.dtype))
        throw DataError(path + ": the tensor " + prefix + e.name + " is " + tensor.dtype +
                        ", but this run has " + exact_dtype(block.dtype));
      load_entry(file, tensor, parameters, block, e);
    }
  }
  file.check_unchanged();
  return state;
}

Json read_state(const std::string& path) {
  const SafetensorsReader file(path, expected_state);
  const TensorInfo* text = file.find("state");
  if (text == nullptr || text->dtype != "U8")
    throw DataError(path + " is not a training state; expected " + expected_state);
  return parse_json({file.data(*text), size_t(text->bytes())}, path + ": state");
}

namespace {

constexpr int flight_format_version = 1;
constexpr const char* expected_flight = "a flight-N.safetensors of a run";

Json read_facts(const SafetensorsReader& file) {
  const std::string* format = file.metadata("format");
  const TensorInfo* text = file.find("flight");
  if (format == nullptr || *format != "tx-flight" || text == nullptr || text->dtype != "U8")
    throw DataError(file.path() + " is not a flight record; expected " + expected_flight);
  check_format_version(file, flight_format_version);
  file.verified_hash();
  const std::string_view bytes(file.data(*text), size_t(text->bytes()));
  return parse_json(bytes, file.path() + ": flight");
}

}  // namespace

void save_flight(const std::string& path, const Parameters& parameters, const Json& facts) {
  std::vector<TensorSource> tensors;
  const Matrix weights = parameters.fp32_weights();
  for (const ParameterEntry& e : parameters.table())
    tensors.push_back(entry_tensor(parameters, weights, e, e.name, exact_dtype(weights.dtype)));
  const std::string text = to_text(facts);
  tensors.push_back(byte_tensor("flight", text));
  write_safetensors(path, std::move(tensors),
                    {{"format", "tx-flight"},
                     {"format_version", std::to_string(flight_format_version)},
                     {"config", to_text(parameters.config().to_json())}});
}

std::string resolve_flight(const std::string& path) {
  if (!is_directory(path)) return path;
  const std::vector<int64_t> numbers = checkpoint_steps(path, "flight");
  if (numbers.empty()) throw DataError(path + " has no flight record (flight-N.safetensors)");
  return checkpoint_file(path, "flight", numbers.back());
}

FlightReader::FlightReader(const std::string& path)
    : file_(path, expected_flight), facts_(read_facts(file_)) {
  const std::string* config = file_.metadata("config");
  if (config == nullptr)
    throw DataError(path + " has no configuration; expected " + expected_flight);
  config_ = ModelConfig::from_json(parse_json(*config, path + ": configuration"), path);
  // Before parameter_table() allocates in proportion to it.
  if (config_.layers() > int64_t(file_.tensors().size()))
    throw DataError(path + " is damaged: its configuration needs more weights than the file holds");
  for (const ParameterEntry& e : parameter_table(config_)) {
    const TensorInfo* tensor = file_.find(e.name);
    if (tensor == nullptr || tensor->shape != file_shape(e) || !is_floating(tensor->dtype))
      throw DataError(path + ": the tensor " + e.name + " is missing or has the wrong shape");
  }
}

void FlightReader::load(Parameters& parameters) const {
  TX_ASSERT(parameters.config().to_json() == config_.to_json());
  for (const ParameterEntry& e : parameters.table())
    load_entry(file_, *file_.find(e.name), parameters, parameters.fp32_weights(), e);
  parameters.refresh_bf16_weights();
}

}  // namespace tx
