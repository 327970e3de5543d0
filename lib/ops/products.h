// The two backward products that every op with a weight matrix needs.
#pragma once
#include "lib/ops/ops.h"

namespace tx {

void input_gradient(Context& context, Tensor& x, const Parameter& w, Matrix dy);         // dx (+)=
void weight_gradient(Context& context, const Tensor& x, const Parameter& w, Matrix dy);  // dw (+)=

}  // namespace tx
