#include "lib/convert/formats/folder.h"

#include <set>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/safetensors.h"
#include "lib/convert/formats/torch_file.h"

namespace tx {

namespace {

constexpr int64_t max_json = int64_t(1) << 28;

void add_safetensors(ForeignTensors& all, const std::string& path) {
  const auto file = std::make_shared<SafetensorsReader>(path);
  for (const TensorInfo& t : file->tensors())
    all.add(t.name, {t.dtype, t.shape, {}, {file->data(t), size_t(t.bytes())}});
  all.keep(file);
}

void add_torch(ForeignTensors& all, const std::string& path) {
  const auto file = std::make_shared<TorchFile>(read_torch_file(path));
  for (const auto& [name, tensor] : file->tensors.all()) all.add(name, tensor);
  all.keep(file);
}

void add_file(ForeignTensors& all, const std::string& path) {
  path.ends_with(".safetensors") ? add_safetensors(all, path) : add_torch(all, path);
}

// {"weight_map": {TENSOR: FILE, ...}}
void add_shards(ForeignTensors& all, const std::string& folder, const std::string& index) {
  const Json json = read_object(index);
  if (!json.contains("weight_map") || !json["weight_map"].is_object())
    throw DataError(index + " has no weight_map of tensors and files");
  std::set<std::string> files;
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    if (!file.is_string() || file.get<std::string>().find('/') != std::string::npos)
      throw DataError(index + ": the file of " + tensor.substr(0, 100) + " is no name of a file");
    files.insert(file.get<std::string>());
  }
  for (const std::string& file : files) {
    if (!file_exists(folder + "/" + file))
      throw DataError(folder + "/" + file + " is missing: " + index + " lists it");
    add_file(all, folder + "/" + file);
  }
  for (const auto& [tensor, file] : json["weight_map"].items())
    if (all.find(tensor) == nullptr)
      throw DataError(folder + "/" + file.get<std::string>() + " lacks the tensor " +
                      tensor.substr(0, 100) + ", which " + index + " places there");
}

}  // namespace

Json read_object(const std::string& path) {
  Json json = parse_json(read_regular_file(path, max_json), path);
  if (!json.is_object()) throw DataError(path + " is not a JSON object");
  return json;
}

ForeignTensors read_weights(const std::string& folder) {
  ForeignTensors all(folder);
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
    const std::string path = folder + "/" + name, index = path + ".index.json";
    if (file_exists(path))
      add_file(all, path);
    else if (file_exists(index))
      add_shards(all, folder, index);
    else
      continue;
    return all;
  }
  throw DataError(folder + " holds no weights: neither model.safetensors nor pytorch_model.bin, " +
                  "nor the index of their shards");
}

Json object_or_empty(const std::string& path) {
  return file_exists(path) ? read_object(path) : Json::object();
}

std::string read_sentencepiece(const std::string& path) {
  return read_regular_file(path, int64_t(1) << 28);
}

}  // namespace tx
