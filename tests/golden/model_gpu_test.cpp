// The golden model on the GPU, in f32 and bf16.
#include "tests/golden/model_test.cpp"
