// The products that the ops with a weight matrix share.
#pragma once
#include "lib/ops/ops.h"

namespace tx {

// y = x w^T (+ bias) (+ relu); packed weights go through matmul_invariant.
void forward_product(Context& context, const Tensor& x, const Parameter& w, const Parameter& bias,
                     Activation activation, const Tensor& y);
// linear() without its gradient and input_of().
Tensor forward_linear(Context& context, const Tensor& x, const Parameter& w, const Parameter& bias);
// x as the input of a product with w: read_by_ranks() if the outputs of w are divided among ranks.
Tensor input_of(Context& context, Tensor x, const Parameter& w);
void bias_gradient(Context& context, const Parameter& bias, Matrix dy);  // db, unless empty
void input_gradient(Context& context, Tensor& x, const Parameter& w, Matrix dy);  // dx (+)= dy w
// dw (+)= dy^T x, by Context::product_aside(). dy: the value or the gradient of `holder`.
void weight_gradient(Context& context, const Tensor& x, const Parameter& w, Matrix dy,
                     const Tensor& holder);

}  // namespace tx
