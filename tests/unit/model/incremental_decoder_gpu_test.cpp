// IncrementalDecoder on the GPU, where steps are replayed.
#include "tests/unit/model/incremental_decoder_test.cpp"
