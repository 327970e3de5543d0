// The kind of a model, without reading it.
#pragma once
#include <string>

#include "lib/model/config.h"

namespace tx {

// The kind that the header of a model (resolve_model()) names; the rest of the file is not looked
// at.
ModelKind kind_of_model(const std::string& path);

}  // namespace tx
