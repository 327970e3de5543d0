// recurrence on the GPU: the table of recurrence_test.cpp.
#include "tests/unit/kernels/recurrence_test.cpp"
