// The data flow of a model as a text diagram: its computations from top to bottom, the shape of
// each tensor between them, and the parameters that each reads (Figure 1 of the paper).
#pragma once
#include <string>

#include "lib/model/config.h"

namespace tx {

// The diagram, with the parameters of parameter_table(), once for a stack of equal layers.
std::string data_flow(const ModelConfig& config);

}  // namespace tx
