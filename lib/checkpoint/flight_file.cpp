#include "lib/checkpoint/flight_file.h"

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/run_files.h"
#include "lib/checkpoint/transfer.h"

namespace tx {

namespace {

constexpr int flight_format_version = 1;
constexpr const char* expected_flight = "a flight-N.safetensors of a run";

Json read_facts(const SafetensorsReader& file) {
  const std::string* format = file.metadata("format");
  const TensorInfo* text = file.find("flight");
  if (format == nullptr || *format != "tx-flight" || text == nullptr || text->dtype != "U8")
    throw DataError(file.path() + " holds no flight record; expected " + expected_flight);
  check_format_version(file, flight_format_version);
  file.verified_hash();
  const std::string_view bytes(file.data(*text), size_t(text->bytes()));
  return parse_json(bytes, file.path() + ": flight");
}

}  // namespace

void save_flight(const std::string& path, const Parameters& parameters, const Json& facts) {
  std::vector<TensorSource> tensors;
  const Matrix weights = parameters.master();
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
  if (numbers.empty()) throw DataError(path + " holds no record of a step (flight-N.safetensors)");
  return checkpoint_file(path, "flight", numbers.back());
}

FlightReader::FlightReader(const std::string& path)
    : file_(path, expected_flight), facts_(read_facts(file_)) {
  const std::string* config = file_.metadata("config");
  if (config == nullptr)
    throw DataError(path + " holds no configuration; expected " + expected_flight);
  config_ = ModelConfig::from_json(parse_json(*config, path + ": configuration"), path);
  // Checked before a table of that size is built.
  if (config_.layers() > int64_t(file_.tensors().size()))
    throw DataError(path + " is damaged: its configuration asks for more weights than it holds");
  for (const ParameterEntry& e : parameter_table(config_)) {
    const TensorInfo* tensor = file_.find(e.name);
    if (tensor == nullptr || tensor->shape != file_shape(e) || !is_floating(tensor->dtype))
      throw DataError(path + ": the tensor " + e.name + " is missing or has another shape");
  }
}

void FlightReader::load(Parameters& parameters) const {
  TX_ASSERT(parameters.config().to_json() == config_.to_json());
  for (const ParameterEntry& e : parameters.table())
    load_entry(file_, *file_.find(e.name), parameters, parameters.master(), e);
  parameters.refresh_copy();
}

}  // namespace tx
