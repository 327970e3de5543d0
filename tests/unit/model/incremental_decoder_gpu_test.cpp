// IncrementalDecoder on the GPU, where steps are replayed.
#include "tests/unit/model/decoding_test.cpp"
