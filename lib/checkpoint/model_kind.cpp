#include "lib/checkpoint/model_kind.h"

#include "lib/checkpoint/model_file.h"

namespace tx {

// What is wrong with a file is said when it is read.
ModelKind kind_of_model(const std::string& path) {
  const SafetensorsReader file(resolve_model(path), "a model that tx-train or tx-avg wrote");
  const std::string* kind = file.metadata("kind");
  const ModelKind* known = kind ? find_value<ModelKind>(*kind) : nullptr;
  return known ? *known : ModelKind::encoder_decoder;
}

}  // namespace tx
