// What an Extraction reads on the GPU.
#include "tests/golden/attention_test.cpp"
