// The two backward products that every op with a weight matrix needs.
#pragma once
#include "lib/ops/ops.h"

namespace tx {

// y = x w^T (+ bias) (+ relu); weights packed for inference go through matmul_invariant,
// in which a row does not depend on the number of rows.
void forward_product(Context& context, const Tensor& x, const Parameter& w, const Parameter& bias,
                     Activation activation, const Tensor& y, const Tensor& mask = {});
// x, as a product with w reads it: the shards of all ranks read x where each has some outputs.
Tensor input_of(Context& context, Tensor x, const Parameter& w);
// dx (+)=, and through the relu that made x where there is a mask.
void input_gradient(Context& context, Tensor& x, const Parameter& w, Matrix dy,
                    ReluMask* mask = nullptr);
void weight_gradient(Context& context, const Tensor& x, const Parameter& w, Matrix dy);  // dw (+)=

}  // namespace tx
