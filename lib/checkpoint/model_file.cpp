#include "lib/checkpoint/model_file.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "build_info.h"
#include "lib/base/error.h"
#include "lib/base/outputs.h"
#include "lib/checkpoint/transfer.h"

namespace tx {

namespace {

constexpr const char* expected_model = "a model that tx-train or tx-avg wrote";
constexpr size_t metadata_limit = 4 << 20;  // bytes; parsing takes quadratic time in the keys
constexpr const char* shared_vocabulary = "vocabulary";
constexpr char kind_fact[] = "a model of kind";  // in conditions of options

// Whether `path` can only be the name of an installed model: there is no such file, and it does not
// look like one. A dangling link is reported as such.
bool is_name(const std::string& path) {
  std::error_code error;
  return path.find('/') == path.npos && !path.ends_with(".safetensors") && !file_exists(path) &&
         !std::filesystem::is_symlink(path, error);
}

std::string installed_model(const std::string& name) {
  return data_directory() + "/" + name + ".safetensors";
}

// The tensor of a side's vocabulary if the sides do not share one.
std::string vocabulary_name(const ModelConfig& config, size_t side) {
  return std::string("vocabulary.") + config.side_name(side);
}

}  // namespace

std::string write_model(const std::string& path, ModelContent content) {
  TX_ASSERT(content.provenance.is_object());
  std::vector<TensorSource> tensors = std::move(content.weights);
  const Vocabularies& v = content.vocabularies;
  TX_ASSERT(v.size() == content.config.sides.size());
  if (v.shared()) tensors.push_back(byte_tensor(shared_vocabulary, v.target().bytes()));
  for (size_t side = 0; side < v.size() && !v.shared(); ++side)
    tensors.push_back(byte_tensor(vocabulary_name(content.config, side), v[side].bytes()));
  return write_safetensors(path, std::move(tensors),
                           {{"format", "tx"},
                            {"format_version", std::to_string(model_format_version)},
                            {"kind", content.config.kind.name},
                            {"config", to_text(content.config.to_json())},
                            {"provenance", to_text(content.provenance)}});
}

std::string save_model(const std::string& path, const Parameters& parameters,
                       const Vocabularies& vocabularies, const Json& provenance, DType precision) {
  TX_ASSERT(precision == DType::f32 || precision == DType::bf16);
  const std::string dtype = precision == DType::bf16 ? "BF16" : "F32";
  ModelContent content{parameters.config(), vocabularies, provenance, {}};
  for (const ParameterEntry& e : parameters.table())
    content.weights.push_back(
        entry_tensor(parameters, parameters.fp32_weights(), e, e.name, dtype));
  return write_model(path, std::move(content));
}

Json provenance_of(const SafetensorsReader& file) {
  const std::string* text = file.metadata("provenance");
  if (text == nullptr) return Json::object();
  if (text->size() > metadata_limit) throw DataError(file.path() + ": its provenance is too long");
  Json json = parse_json(*text, file.path() + ": provenance");
  if (!json.is_object()) throw DataError(file.path() + ": its provenance is not a JSON object");
  return json;
}

Json defaults_of(const Json& provenance) {
  const Json defaults = provenance.value("defaults", Json());
  if (defaults.is_object()) return defaults;
  const Json common = provenance.value("common", Json());
  return common.is_object() ? defaults_of(common) : Json::object();
}

ModelReader::ModelReader(const std::string& path) : file_(resolve_model(path), expected_model) {
  check_format();
  checksum_ = file_.verified_hash();
  if (text("config").size() > metadata_limit)
    throw DataError(this->path() + ": its configuration is too long");
  config_ = ModelConfig::from_json(parse_json(text("config"), this->path() + ": configuration"),
                                   this->path());
  if (config_.kind.name != text("kind"))
    throw DataError(this->path() + " is damaged: its kind is " + shown(text("kind")) +
                    " in the metadata but " + shown(config_.kind.name) + " in the configuration");
  check_sizes();
  table_ = parameter_table(config_);
  check_tensors();
  provenance_ = provenance_of(file_);
  vocabularies_ = read_vocabularies();
}

const std::string& ModelReader::text(const std::string& key) const {
  const std::string* value = file_.metadata(key);
  if (value == nullptr)
    throw DataError(path() + " is not a tx model (its metadata has no \"" + key + "\"); expected " +
                    expected_model);
  return *value;
}

void ModelReader::check_format() const {
  if (text("format") == "tx-state")
    throw DataError(path() +
                    " is a training state, not a model; give the model-STEP.safetensors of" +
                    " the same step, or the run directory");
  if (text("format") != "tx")
    throw DataError(path() + " is not a tx model (its format is " + shown(text("format")) +
                    "); expected " + expected_model);
  check_format_version(file_, model_format_version);
  if (!find_value<ModelKind>(text("kind")))
    throw DataError(path() + ": models of kind " + shown(text("kind")) +
                    " are not supported by tx " TX_VERSION "; use a newer tx");
}

// Before the parameter table is built: the file must hold at least one byte per weight, so that a
// short hostile header can neither allocate much memory nor overflow a product of sizes.
void ModelReader::check_sizes() const {
  const double bytes = double(file_.data_bytes()), d = config_.d_model;
  const double layers = double(config_.layers());
  const double inner = std::max({double(config_.d_ff), double(config_.heads) * config_.d_k,
                                 double(config_.heads) * config_.d_v});
  const double embedded =
      std::max(double(config_.max_tokens()),
               config_.learned_positions() ? double(config_.max_positions) : 0.0);
  if (layers > double(file_.tensors().size()) || layers * inner * d > bytes || embedded * d > bytes)
    throw DataError(path() +
                    " is damaged: its configuration needs more weights than the file holds");
}

void ModelReader::check_tensors() {
  size_t scales = 0, vocabularies = file_.find(shared_vocabulary) != nullptr;
  for (size_t side = 0; side < config_.sides.size(); ++side)
    vocabularies += file_.find(vocabulary_name(config_, side)) != nullptr;
  for (const ParameterEntry& e : table_) {
    const TensorInfo* tensor = file_.find(e.name);
    if (tensor == nullptr) throw DataError(path() + ": the tensor " + e.name + " is missing");
    if (tensor->dtype == "U8") {
      check_int8(e, *tensor);
      int8_ = true, ++scales;
      continue;
    }
    if (tensor->shape != file_shape(e))
      throw DataError(path() + ": " + e.name + " has the shape " + shape_text(tensor->shape) +
                      ", but its configuration needs " + shape_text(file_shape(e)));
    if (!is_floating(tensor->dtype))
      throw DataError(path() + ": " + e.name + " is " + tensor->dtype +
                      "; weights must be F32, BF16, F64 or U8");
  }
  const size_t expected_count = table_.size() + scales + vocabularies;
  if (file_.tensors().size() != expected_count)
    throw DataError(path() + " has " + std::to_string(file_.tensors().size()) +
                    " tensors, but its configuration needs " + std::to_string(expected_count));
}

void ModelReader::check_int8(const ParameterEntry& e, const TensorInfo& tensor) const {
  if (!is_quantised(e))
    throw DataError(path() + ": " + e.name + " is U8; it must be F32, BF16 or F64");
  if (tensor.shape != int8_shape(e))
    throw DataError(path() + ": " + e.name + " has the shape " + shape_text(tensor.shape) +
                    ", but its configuration needs " + shape_text(int8_shape(e)));
  const TensorInfo* scale = file_.find(scale_name(e));
  if (scale == nullptr || scale->dtype != "F32" || scale->shape != std::vector<int64_t>{e.rows})
    throw DataError(path() + ": " + e.name + " has no scales (the tensor " + scale_name(e) +
                    ", F32 " + shape_text({e.rows}) + ")");
}

Vocabularies ModelReader::read_vocabularies() const {
  if (file_.find(shared_vocabulary) != nullptr) {
    const Vocabularies all(read_vocabulary(shared_vocabulary, config_.sides.front().vocabulary),
                           config_.sides.size());
    for (const SideConfig& side : config_.sides)
      if (side.vocabulary != config_.sides.front().vocabulary)
        throw DataError(path() +
                        ": the sides share a vocabulary, but its configuration has two sizes");
    return all;
  }
  std::vector<Vocabularies::Pointer> sides;
  for (size_t side = 0; side < config_.sides.size(); ++side)
    sides.push_back(
        read_vocabulary(vocabulary_name(config_, side), config_.sides[side].vocabulary));
  return sides;
}

Vocabularies::Pointer ModelReader::read_vocabulary(const std::string& name, int64_t size) const {
  const TensorInfo* tensor = file_.find(name);
  if (tensor == nullptr || tensor->dtype != "U8")
    throw DataError(path() + " has no vocabulary (a tensor " + name + " of dtype U8); expected " +
                    expected_model);
  Vocabularies::Pointer vocabulary =
      parse_vocabulary({file_.data(*tensor), size_t(tensor->bytes())}, path() + ", its " + name);
  if (vocabulary->size() != size)
    throw DataError(path() + ": its " + name + " has " + std::to_string(vocabulary->size()) +
                    " tokens, but its configuration says " + std::to_string(size));
  return vocabulary;
}

InputFactor ModelReader::input_factor(const ParameterEntry& entry) const {
  const auto in_range = [](const Json& x) {
    return x.is_number() && x.get<double>() > 1e-15 && x.get<double>() < 1e15;
  };
  const Json all = provenance_.value("input_factors", Json());
  const Json both = all.is_object() ? all.value(entry.name, Json()) : Json();
  if (!both.is_array() || both.size() != 2 || !in_range(both[0]) || !in_range(both[1])) return {};
  return {both[0].get<float>(), both[1].get<float>()};
}

WeightRows ModelReader::rows(const ParameterEntry& entry) const {
  WeightRows rows = rows_of_tensor(file_, entry);
  rows.input_factor = input_factor(entry).input;
  rows.read = [this, read = std::move(rows.read)](int64_t first, int64_t count, float* to) {
    read(first, count, to);
    file_.check_unchanged();
  };
  return rows;
}

Int8Weights ModelReader::int8(std::span<const ParameterEntry> joined) const {
  if (!int8_) return {};
  std::vector<float>& scales = scales_.emplace_back();
  Int8Weights weights = mapped_int8(file_, joined, scales);
  if (!weights.groups || input_factor(joined.front()).input == 0) return weights;
  for (const ParameterEntry& e : joined)
    scales.insert(scales.end(), size_t(e.padded_rows), input_factor(e).weight);
  weights.scales = scales.data();
  weights.factors = scales.data() + weights.rows;
  return weights;
}

// Releases the pages of weights that have been packed; int8 weights may be used in place.
void ModelReader::finished(const ParameterEntry& entry) const {
  const TensorInfo& tensor = *file_.find(entry.name);
  if (tensor.dtype != "U8") file_.forget(tensor);
}

void ModelReader::load(Parameters& parameters) const {
  if (int8_)
    throw DataError(path() +
                    " holds 8-bit weights, which can only decode; give the model that it was " +
                    "made from");
  ModelConfig grown = config_;
  for (size_t side = 0; side < grown.sides.size(); ++side)
    grown.sides[side].vocabulary = parameters.config().sides.at(side).vocabulary;
  TX_ASSERT(parameters.config().to_json() == grown.to_json());
  for (size_t i = 0; i < table_.size(); ++i) {
    ParameterEntry to = parameters.table()[i];
    TX_ASSERT(to.rows >= table_[i].rows && to.cols >= table_[i].cols);
    to.rows = table_[i].rows, to.cols = table_[i].cols;
    load_entry(file_, *file_.find(to.name), parameters, parameters.fp32_weights(), to);
  }
  file_.check_unchanged();
  parameters.refresh_bf16_weights();
}

std::string resolve_model(const std::string& path) {
  if (is_name(path)) {
    if (file_exists(installed_model(path))) return installed_model(path);
    throw IoError("read", path, ENOENT, data_directory() + " has no model of that name either");
  }
  if (!is_directory(path)) return path;
  for (const char* name : {"/best.safetensors", "/last.safetensors"})
    if (file_exists(path + name)) return path + name;
  for (const char* name : {"/best.safetensors", "/last.safetensors"})
    if (std::filesystem::is_symlink(path + name)) throw IoError("read", path + name, ENOENT);
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  std::string there;
  for (size_t i = 0; i < std::min(names.size(), size_t(8)); ++i)
    there += (i > 0 ? ", " : "") + names[i];
  if (names.size() > 8) there += ", ...";
  throw DataError(path + " is a directory without best.safetensors or last.safetensors (" +
                  (names.empty() ? "it is empty" : "it holds " + there) +
                  "); give a model file, or the directory of a run that has saved a model");
}

bool names_model(const std::string& path) {
  std::error_code error;
  if (is_directory(path) || (is_name(path) && file_exists(installed_model(path)))) return true;
  if (!std::filesystem::is_regular_file(path, error)) return false;  // a FIFO is read once
  std::ifstream file(path, std::ios::binary);
  unsigned char start[9] = {};
  file.read(reinterpret_cast<char*>(start), sizeof start);
  // Eight bytes of header length, the upper four 0 (no header has 4 GiB), then JSON.
  return file && start[8] == '{' && start[4] == 0 && start[5] == 0 && start[6] == 0 &&
         start[7] == 0;
}

std::unique_ptr<Vocabulary> open_vocabulary(const std::string& path, bool target) {
  if (!names_model(path)) return load_vocabulary(path);
  const ModelReader model(path);
  const Vocabularies& inside = model.vocabularies();
  return parse_vocabulary((target ? inside.target() : inside.source()).bytes(), model.path());
}

void check_replaceable(const std::string& path) {
  check_writable(path);
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(path, error) ||
      std::filesystem::file_size(path, error) == 0 || names_model(path))
    return;
  throw UsageError("--out " + path +
                   " exists and is not a model: choose another name, or remove it");
}

// An unknown kind is reported by ModelReader.
ModelKind kind_of_model(const std::string& path) {
  const SafetensorsReader file(resolve_model(path), expected_model);
  const std::string* kind = file.metadata("kind");
  return find_value<ModelKind>(kind ? *kind : "").value_or(ModelKind::encoder_decoder);
}

Json defaults_of_model(const std::string& path) {
  return defaults_of(provenance_of(SafetensorsReader(resolve_model(path), expected_model)));
}

std::vector<Condition> of_kinds(std::initializer_list<ModelKind> kinds) {
  std::vector<Condition> out;
  for (const ModelKind kind : kinds) out.emplace_back(kind_fact, name_of_value(kind), true);
  return out;
}

void check_kind(const Options& options, ModelKind kind, const std::string& path) {
  options.check_fact(of_kinds({kind}).front(), path + " is of kind " + name_of_value(kind));
}

}  // namespace tx
