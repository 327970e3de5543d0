// What a model file holds, as text for people.
#pragma once
#include <string>

#include "lib/checkpoint/model_file.h"

namespace tx {

// A line for each weight: name, shape, form (fp32, bf16, int8 with its scales), what it is read for
// and its bytes; then the sums of each form.
std::string describe_file(const ModelReader& model);

}  // namespace tx
