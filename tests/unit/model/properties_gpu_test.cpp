// The properties of a model on the GPU; f64, the reference, stays on the CPU.
#include "tests/unit/model/properties_test.cpp"
