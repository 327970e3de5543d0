#include "lib/search/engine/model_set.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/model/config.h"
#include "lib/model/head_mask.h"
#include "lib/subword/mapped.h"

namespace tx {

ModelSet::ModelSet(std::unique_ptr<Backend> backend, std::vector<LoadedModel> models)
    : backend_(std::move(backend)), models_(std::move(models)) {
  TX_ASSERT(!models_.empty());
  check_vocabularies();
}

ModelSet::~ModelSet() = default;

namespace {

using Files = std::vector<std::shared_ptr<const ModelReader>>;

DType dtype_of_weights(Precision precision, Backend& backend, const Files& files) {
  if (precision != Precision::automatic) return precision_dtype(precision);
  const auto quantised = [](const auto& file) { return file->has_int8(); };
  const bool gpu = backend->has_own_memory();
  if (!gpu && std::any_of(files.begin(), files.end(), quantised)) return DType::i8;
  return auto_precision(gpu ? Device::cuda : Device::cpu).dtype;
}

LoadedModel load_model(Backend& backend, const std::shared_ptr<const ModelReader>& file,
                       DType weights, int64_t longest, const std::string& masked_heads,
                       const LanguageChoice& languages) {
  LoadedModel m;
  m.name = file->path();
  m.vocabularies = with_languages(file->vocabularies(), languages, m.name);
  longest += first_token(m.vocabularies.target()) >= 0;
  const HeadMask mask(masked_heads, file->config(), "--mask-heads");
  m.parameters.reset(new Parameters(Parameters::for_inference(
      backend, file->config(), weights, MaskedWeights(*file, mask, file->config().d_v))));
  if (weights == DType::i8 && file->has_int8()) m.file = file;
  m.transformer = std::make_unique<Transformer>(backend, *m.parameters, longest);
  return m;
}

}  // namespace

std::unique_ptr<ModelSet> ModelSet::load(Backend backend, const std::vector<std::string>& paths,
                                         Precision precision, int64_t longest,
                                         const std::string& masked_heads, int64_t longest_continued,
                                         const LanguageChoice& languages) {
  Files files;
  for (const std::string& path : paths)
    files.push_back(std::make_shared<const ModelReader>(resolve_model(path)));
  auto own = std::make_unique<Backend>(std::move(backend));
  const DType weights = dtype_of_weights(precision, *own, files);
  std::vector<LoadedModel> models;
  for (const auto& file : files)
    models.push_back(load_model(*own, file, weights,
                                longest_continued && file->config().kind == ModelKind::decoder
                                    ? longest_continued
                                    : longest,
                                masked_heads, languages));
  (*own)->wait();        // workers read the weights from streams of their own
  set_threads(*own, 1);  // workers have threads of their own
  auto set = std::make_unique<ModelSet>(std::move(own), std::move(models));
  set->int8_ = weights == DType::i8;
  return set;
}

void ModelSet::check_vocabularies() const {
  const LoadedModel& first = models_.front();
  for (const LoadedModel& other : models_)
    if (other.parameters->config().kind != first.parameters->config().kind)
      throw DataError(first.name + " is of kind " + first.parameters->config().kind.name + ", " +
                      other.name + " of kind " + other.parameters->config().kind.name +
                      ": only models of one kind can be joined");
  for (const LoadedModel& other : models_) {
    const ModelConfig &a = first.parameters->config(), &b = other.parameters->config();
    if (a.source_eos != b.source_eos || a.source_bos != b.source_bos)
      throw DataError(first.name + " and " + other.name +
                      " differ in <s> or </s> around a source " +
                      "(source_bos, source_eos): they cannot be joined");
  }
  for (const LoadedModel& other : models_)
    for (size_t side = 0; side < first.vocabularies.size(); ++side) {
      const auto hash = [&](const LoadedModel& m) { return m.vocabularies[side].hash(); };
      if (hash(other) == hash(first)) continue;
      throw DataError(first.name + " and " + other.name + " have different " +
                      first.parameters->config().side_name(side) + " vocabularies (" + hash(first) +
                      ", " + hash(other) +
                      "): only models trained with the same one can be joined");
    }
}

void ModelSet::check_unchanged() const {
  for (const LoadedModel& m : models_)
    if (m.file) m.file->file().check_unchanged();
}

int64_t ModelSet::longest() const {
  int64_t min = models_.front().transformer->longest();
  for (const LoadedModel& m : models_) min = std::min(min, m.transformer->longest());
  return min - (first_token(target()) >= 0);
}

std::vector<const Transformer*> ModelSet::transformers() const {
  std::vector<const Transformer*> out;
  for (const LoadedModel& m : models_) out.push_back(m.transformer.get());
  return out;
}

int64_t ModelSet::parameters() const {
  int64_t sum = 0;
  for (const LoadedModel& m : models_) sum += parameter_count(m.parameters->config());
  return sum;
}

size_t ModelSet::bytes() const { return size_t(parameters()) * (int8_ ? 1 : size_of(dtype())); }

std::vector<int> ModelSet::forbidden() const { return forbidden_tokens(target()); }

}  // namespace tx
