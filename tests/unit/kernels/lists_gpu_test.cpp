// extend_lists on the GPU: the table of lists_test.cpp.
#include "tests/unit/kernels/lists_test.cpp"
