#include "lib/checkpoint/state_file.h"

#include "lib/base/error.h"
#include "lib/checkpoint/safetensors.h"
#include "lib/checkpoint/transfer.h"

namespace tx {

namespace {

constexpr int state_format_version = 1;
constexpr const char* expected_state = "the state-STEP.safetensors of a run";

struct Moment {
  std::string prefix;
  Matrix block;
};

std::vector<Moment> named(const Moments& moments, const Parameters& of) {
  const int64_t elements = of.master().cols;
  TX_ASSERT(moments.first.cols == elements && moments.second.cols == elements);
  return {{"m/", moments.first}, {"v/", moments.second}};
}

void check_format(const SafetensorsReader& file, const std::string& model_checksum) {
  const std::string *format = file.metadata("format"), *model = file.metadata("model_xxh3");
  if (format == nullptr || *format != "tx-state" || model == nullptr)
    throw DataError(file.path() + " holds no state of a training; expected " + expected_state);
  check_format_version(file, state_format_version);
  file.verified_hash();
  if (*model != model_checksum)
    throw DataError(file.path() + " belongs to another model than the one beside it (" + *model +
                    " instead of " + model_checksum + "): one of the two was replaced");
}

// The state proper and both moments of every parameter. The checksum does not cover names.
const TensorInfo& check_tensors(const SafetensorsReader& file,
                                const std::vector<ParameterEntry>& table) {
  const TensorInfo* text = file.find("state");
  if (text == nullptr || text->dtype != "U8" || file.tensors().size() != 2 * table.size() + 1)
    throw DataError(file.path() + ": its tensors are not those of a model of this configuration");
  for (const char* prefix : {"m/", "v/"}) {
    for (const ParameterEntry& e : table) {
      const TensorInfo* tensor = file.find(prefix + e.name);
      if (tensor == nullptr || tensor->shape != file_shape(e))
        throw DataError(file.path() + ": the tensor " + prefix + e.name +
                        " is missing or has another shape than this run's");
    }
  }
  return *text;
}

}  // namespace

// The state proper is a tensor too, so that the checksum covers it.
void save_state(const std::string& path, const Parameters& parameters, const Moments& moments,
                const Json& state, const std::string& model_checksum) {
  std::vector<TensorSource> tensors;
  for (const auto& [prefix, block] : named(moments, parameters))
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

Json load_state(const std::string& path, const Parameters& parameters, const Moments& moments,
                const std::string& model_checksum) {
  const SafetensorsReader file(path, expected_state);
  check_format(file, model_checksum);
  const TensorInfo& text = check_tensors(file, parameters.table());
  const std::string_view bytes(file.data(text), size_t(text.bytes()));
  Json state = parse_json(bytes, path + ": state");
  for (const auto& [prefix, block] : named(moments, parameters)) {
    for (const ParameterEntry& e : parameters.table()) {
      const TensorInfo& tensor = *file.find(prefix + e.name);
      if (tensor.dtype != exact_dtype(block.dtype))
        throw DataError(path + ": the tensor " + prefix + e.name + " is " + tensor.dtype +
                        ", not what this run has");
      load_entry(file, tensor, parameters, block, e);
    }
  }
  return state;
}

Json read_state(const std::string& path) {
  const SafetensorsReader file(path, expected_state);
  const TensorInfo* text = file.find("state");
  if (text == nullptr || text->dtype != "U8")
    throw DataError(path + " holds no state of a training; expected " + expected_state);
  return parse_json({file.data(*text), size_t(text->bytes())}, path + ": state");
}

}  // namespace tx
