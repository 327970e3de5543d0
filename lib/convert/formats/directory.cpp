#include "lib/convert/formats/directory.h"

#include <set>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/safetensors.h"

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

// {"weight_map": {TENSOR: FILE, ...}}
void add_shards(ForeignTensors& all, const std::string& directory, const std::string& index) {
  const Json json = read_object(index);
  if (!json.contains("weight_map") || !json["weight_map"].is_object())
    throw DataError(index + " has no weight_map");
  std::set<std::string> files;
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    if (!file.is_string() || file.get<std::string>().find('/') != std::string::npos)
      throw DataError(index + ": the file of " + shown(tensor) + " is not a file name");
    files.insert(file.get<std::string>());
  }
  for (const std::string& file : files) {
    if (!file_exists(directory + "/" + file))
      throw DataError(directory + "/" + file + " is missing, but " + index + " lists it");
    add_weights_file(all, directory + "/" + file);
  }
  for (const auto& [tensor, file] : json["weight_map"].items())
    if (all.find(tensor) == nullptr)
      throw DataError(directory + "/" + file.get<std::string>() + " has no tensor " +
                      shown(tensor) + ", but " + index + " lists it there");
}

}  // namespace

void add_weights_file(ForeignTensors& all, const std::string& path) {
  path.ends_with(".safetensors") ? add_safetensors(all, path) : add_torch(all, path);
}

Json read_object(const std::string& path, const char* without) {
  Json json = parse_json(read_regular_file(path, max_json), path, without);
  if (!json.is_object()) throw DataError(path + " is not a JSON object");
  return json;
}

ForeignTensors read_weights(const std::string& directory) {
  ForeignTensors all(directory);
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
    const std::string path = directory + "/" + name, index = path + ".index.json";
    if (file_exists(path))
      add_weights_file(all, path);
    else if (file_exists(index))
      add_shards(all, directory, index);
    else
      continue;
    return all;
  }
  throw DataError(directory + " has no weights: neither model.safetensors nor pytorch_model.bin, " +
                  "nor an index of their shards");
}

Json object_or_empty(const std::string& path, const char* without) {
  return file_exists(path) ? read_object(path, without) : Json::object();
}

std::string read_sentencepiece(const std::string& path) {
  return read_regular_file(path, int64_t(1) << 28);
}

}  // namespace tx
