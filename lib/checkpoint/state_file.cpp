#include "lib/checkpoint/state_file.h"

#include <cstdlib>

#include "lib/base/error.h"
#include "lib/checkpoint/safetensors.h"

namespace tx {

namespace {
constexpr int state_format_version = 1;
}

void save_state(const std::string& path, const Parameters& parameters, const Json& state,
                const std::string& model_checksum) {
  const Matrix m = parameters.moment1(), v = parameters.moment2();
  TX_ASSERT(m.dtype == DType::f32);
  write_safetensors(path,
                    {{"moment1", "F32", {m.cols}, m.data, m.cols * 4},
                     {"moment2", "F32", {v.cols}, v.data, v.cols * 4}},
                    {{"format", "tx-state"},
                     {"format_version", std::to_string(state_format_version)},
                     {"model_xxh3", model_checksum},
                     {"state", to_text(state)}});
}

namespace {

std::string metadata(const SafetensorsReader& file, const std::string& key) {
  const auto at = file.metadata().find(key);
  if (at == file.metadata().end())
    throw DataError(file.path() + " is no state of a tx run: its metadata has no '" + key + "'");
  return at->second;
}

void check(const SafetensorsReader& file, const std::string& model_checksum) {
  const std::string& path = file.path();
  if (metadata(file, "format") != "tx-state") throw DataError(path + " is no state of a tx run");
  if (std::atol(metadata(file, "format_version").c_str()) > state_format_version)
    throw DataError(path + ": its format is newer than this tx reads: use a newer tx");
  if (file.data_hash() != metadata(file, "xxh3"))
    throw DataError(path + " is damaged: its data does not have the checksum it was written with");
  if (metadata(file, "model_xxh3") != model_checksum)
    throw DataError(path + " belongs to another model than the one beside it");
}

}  // namespace

void check_state(const std::string& path, const std::string& model_checksum) {
  check(SafetensorsReader(path), model_checksum);
}

Json load_state(const std::string& path, Parameters& parameters,
                const std::string& model_checksum) {
  const SafetensorsReader file(path);
  check(file, model_checksum);
  for (const auto& [name, block] :
       {std::pair{"moment1", parameters.moment1()}, std::pair{"moment2", parameters.moment2()}}) {
    const TensorInfo* tensor = file.find(name);
    if (!tensor || tensor->dtype != "F32" || tensor->elements() != block.cols)
      throw DataError(path + ": tensor '" + name + "' does not fit the model");
    parameters.upload(block, file.data(*tensor));
  }
  return parse_json(metadata(file, "state"), path);
}

}  // namespace tx
