// The kind of a model, without reading it, and which options go with it.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "lib/model/config.h"

namespace tx {

// The kind that the header of a model (resolve_model()) names; the rest of the file is not looked
// at.
ModelKind kind_of_model(const std::string& path);

// For Option::needs(): {"a model of kind decoder", ...}.
std::vector<std::string> of_kinds(std::initializer_list<ModelKind> kinds);

// UsageError for an option that was typed and needs a model of another kind than `path` is of.
void check_kind(const Options& options, ModelKind kind, const std::string& path);

}  // namespace tx
