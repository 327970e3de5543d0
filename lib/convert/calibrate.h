// Measures the activations that enter the products of a model, whose 8-bit forms have a fixed scale
// in some programs.
#pragma once
#include <map>
#include <string>

#include "lib/checkpoint/model_file.h"

namespace tx {

// Int8Weights::input_factor for the weights of each product (the first of joined ones), 127 /
// range. The range is the mean of the largest magnitudes of its input rows plus 2.5 of their
// standard deviations, in greedy translations of the text `path`, in fp32. DataError: the text is
// blank. IoError: unreadable.
std::map<std::string, float> input_factors(const ModelReader& model, const std::string& path);

}  // namespace tx
