// gate, gate_backward and rotate on the GPU: the table of the CPU.
#include "tests/unit/kernels/gate_test.cpp"
