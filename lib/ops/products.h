// The two backward products that every op with a weight matrix needs.
#pragma once
#include "lib/ops/ops.h"

namespace tx {

// y = x w^T (+ bias) (+ relu); weights packed for inference take the kernel whose rows do not
// depend on their number.
void forward_product(Context& context, const Tensor& x, const Parameter& w, const Parameter& bias,
                     Activation activation, const Tensor& y);
void input_gradient(Context& context, Tensor& x, const Parameter& w, Matrix dy);         // dx (+)=
void weight_gradient(Context& context, const Tensor& x, const Parameter& w, Matrix dy);  // dw (+)=

}  // namespace tx
