// Models from files, for ModelSet.
#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/search/model_set.h"

namespace tx {

namespace {

LoadedModel load_one(Backend& backend, const std::string& path, DType dtype, int64_t longest) {
  const ModelReader reader(resolve_model(path));
  LoadedModel m;
  m.name = reader.path();
  m.parameters = std::make_unique<Parameters>(backend, reader.config(), dtype, false);
  reader.load(*m.parameters);
  m.parameters->prepare_inference();
  m.transformer = std::make_unique<Transformer>(backend, *m.parameters, longest);
  m.source = reader.source();
  m.target = reader.target();
  return m;
}

}  // namespace

std::unique_ptr<ModelSet> ModelSet::load(Backend backend, const std::vector<std::string>& paths,
                                         DType dtype, int64_t longest) {
  auto own = std::make_unique<Backend>(std::move(backend));
  std::vector<LoadedModel> models;
  for (const std::string& path : paths) models.push_back(load_one(*own, path, dtype, longest));
  return std::make_unique<ModelSet>(std::move(own), std::move(models));
}

}  // namespace tx
