// norm_heads on the GPU: the table of norm_heads_test.cpp.
#include "tests/unit/kernels/norm_heads_test.cpp"
