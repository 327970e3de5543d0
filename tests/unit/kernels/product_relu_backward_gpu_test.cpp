// product_relu_backward on the GPU: the table of product_relu_backward_test.cpp.
#include "tests/unit/kernels/product_relu_backward_test.cpp"
