#include "lib/search/model_set.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/tensor/precision.h"

namespace tx {

DType ModelSet::precision(const std::string& name, const std::string& device) {
  if (name != "auto") return precision_dtype(name);
  return has_fast_bf16(resolve_device(device)) ? DType::bf16 : DType::f32;
}

ModelSet::ModelSet(std::unique_ptr<Backend> backend, std::vector<LoadedModel> models)
    : backend_(std::move(backend)), models_(std::move(models)) {
  TX_ASSERT(!models_.empty());
  check_vocabularies();
}

ModelSet::~ModelSet() = default;

namespace {

LoadedModel load_model(Backend& backend, const std::string& path, DType dtype, int64_t longest) {
  const ModelReader reader(resolve_model(path));
  LoadedModel m;
  m.name = reader.path();
  if (reader.config().kind != ModelKind::encoder_decoder) {
    throw DataError(m.name + " is a model of kind " + reader.config().kind.name +
                    "; translating needs one of kind encoder-decoder");
  }
  m.vocabularies = reader.vocabularies();
  m.parameters = std::make_unique<Parameters>(backend, reader.config(), dtype, false);
  reader.load(*m.parameters);
  m.parameters->prepare_inference();
  m.transformer = std::make_unique<Transformer>(backend, *m.parameters, longest);
  return m;
}

}  // namespace

std::unique_ptr<ModelSet> ModelSet::load(Backend backend, const std::vector<std::string>& paths,
                                         DType dtype, int64_t longest) {
  auto own = std::make_unique<Backend>(std::move(backend));
  std::vector<LoadedModel> models;
  for (const std::string& path : paths) models.push_back(load_model(*own, path, dtype, longest));
  on(*own, [](auto& k) { k.wait(); });  // workers read the weights from streams of their own
  set_threads(*own, 1);                 // workers have threads of their own
  return std::make_unique<ModelSet>(std::move(own), std::move(models));
}

void ModelSet::check_vocabularies() const {
  const LoadedModel& first = models_.front();
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

std::string ModelSet::device() const {
  return on(*backend_, [](auto& k) { return k.has_own_memory(); }) ? "cuda" : "cpu";
}

int64_t ModelSet::longest() const {
  int64_t least = models_.front().transformer->longest();
  for (const LoadedModel& m : models_) least = std::min(least, m.transformer->longest());
  return least;
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

size_t ModelSet::bytes() const {
  size_t sum = 0;
  for (const LoadedModel& m : models_)
    sum += Parameters::bytes(m.parameters->config(), m.parameters->dtype(), false);
  return sum;
}

std::vector<int> ModelSet::forbidden() const {
  std::vector<int> out = {Vocabulary::pad, Vocabulary::bos};
  if (target().kind() != "words") out.push_back(Vocabulary::unk);
  return out;
}

}  // namespace tx
