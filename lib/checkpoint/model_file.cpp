#include "lib/checkpoint/model_file.h"

#include <cstdlib>
#include <cstring>

#include "lib/base/error.h"

namespace tx {

namespace {

std::vector<int64_t> file_shape(const ParameterEntry& e) {
  return e.vector ? std::vector<int64_t>{e.cols} : std::vector<int64_t>{e.rows, e.cols};
}

TensorSource vocabulary_tensor(const std::string& name, const Vocabulary& v) {
  return memory_tensor(name, "U8", {int64_t(v.bytes().size())}, v.bytes().data());
}

}  // namespace

std::string write_model(const std::string& path, ModelContent content) {
  std::vector<TensorSource> tensors = std::move(content.weights);
  if (content.source->bytes() == content.target->bytes()) {
    tensors.push_back(vocabulary_tensor("vocabulary", *content.source));
  } else {
    tensors.push_back(vocabulary_tensor("vocabulary.source", *content.source));
    tensors.push_back(vocabulary_tensor("vocabulary.target", *content.target));
  }
  return write_safetensors(path, std::move(tensors),
                           {{"format", "tx"},
                            {"format_version", std::to_string(model_format_version)},
                            {"kind", content.config.kind},
                            {"config", to_text(content.config.to_json())},
                            {"provenance", to_text(content.provenance)}});
}

std::string save_model(const std::string& path, const Parameters& parameters,
                       const std::shared_ptr<const Vocabulary>& source,
                       const std::shared_ptr<const Vocabulary>& target, const Json& provenance) {
  TX_ASSERT(parameters.master().dtype == DType::f32);
  ModelContent content{parameters.config(), source, target, provenance, {}};
  for (const ParameterEntry& e : parameters.table())
    content.weights.push_back(
        memory_tensor(e.name, "F32", file_shape(e), parameters.master(e).data));
  return write_model(path, std::move(content));
}

ModelReader::ModelReader(const std::string& path) : file_(path) {
  const auto& meta = file_.metadata();
  const auto text = [&](const std::string& key) {
    const auto at = meta.find(key);
    if (at == meta.end())
      throw DataError(path + " is no tx model: its metadata has no '" + key + "'");
    return at->second;
  };
  if (text("format") != "tx")
    throw DataError(path + " is no tx model, but of format '" + text("format") + "'");
  const std::string version = text("format_version");
  if (std::atol(version.c_str()) > model_format_version)
    throw DataError(path + ": format version " + version + " is newer than this tx reads (" +
                    std::to_string(model_format_version) + "): use a newer tx");
  checksum_ = text("xxh3");
  if (file_.data_hash() != checksum_)
    throw DataError(path + " is damaged: its data does not have the checksum it was written with");
  config_ = ModelConfig::from_json(parse_json(text("config"), path), path);
  provenance_ = parse_json(text("provenance"), path);
  const bool shared = file_.find("vocabulary") != nullptr;
  source_ = read_vocabulary(shared ? "vocabulary" : "vocabulary.source");
  target_ = shared ? source_ : read_vocabulary("vocabulary.target");
  if (source_->size() != config_.source_vocabulary || target_->size() != config_.target_vocabulary)
    throw DataError(path + ": its vocabulary and its embedding differ in size");
}

std::shared_ptr<const Vocabulary> ModelReader::read_vocabulary(const std::string& name) const {
  const TensorInfo* tensor = file_.find(name);
  if (!tensor || tensor->dtype != "U8") throw DataError(path() + " holds no vocabulary");
  return parse_vocabulary({file_.data(*tensor), size_t(tensor->end - tensor->begin)}, path());
}

void ModelReader::load(Parameters& parameters) const {
  for (const ParameterEntry& e : parameters.table()) {
    const TensorInfo* tensor = file_.find(e.name);
    if (!tensor) throw DataError(path() + ": tensor '" + e.name + "' is missing");
    if (tensor->shape != file_shape(e) || tensor->dtype != "F32")
      throw DataError(path() + ": tensor '" + e.name + "' has another shape than its model");
    const Matrix from = matrix(const_cast<char*>(file_.data(*tensor)), DType::f32, e.rows, e.cols);
    parameters.load(e, from);
  }
  parameters.refresh_copy();
}

std::string resolve_model(const std::string& path) {
  if (!is_directory(path)) return path;
  for (const char* name : {"best", "last"}) {
    const std::string file = path + "/" + name + ".safetensors";
    if (file_exists(file)) return file;
  }
  throw DataError(path + " is a directory without best.safetensors or last.safetensors");
}

}  // namespace tx
