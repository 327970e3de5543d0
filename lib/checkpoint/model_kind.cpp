#include "lib/checkpoint/model_kind.h"

#include "lib/checkpoint/model_file.h"

namespace tx {

static constexpr char fact[] = "a model of kind";

// What is wrong with a file is said when it is read.
ModelKind kind_of_model(const std::string& path) {
  const SafetensorsReader file(resolve_model(path), "a model that tx-train or tx-avg wrote");
  const std::string* kind = file.metadata("kind");
  const ModelKind* known = kind ? find_value<ModelKind>(*kind) : nullptr;
  return known ? *known : ModelKind::encoder_decoder;
}

std::vector<std::string> of_kinds(std::initializer_list<ModelKind> kinds) {
  std::vector<std::string> out;
  for (const ModelKind kind : kinds)
    out.push_back(std::string(fact).append(" ").append(name_of_value(kind)));
  return out;
}

void check_kind(const Options& options, ModelKind kind, const std::string& path) {
  options.check_fact(fact, name_of_value(kind), path + " is of kind " + name_of_value(kind));
}

}  // namespace tx
