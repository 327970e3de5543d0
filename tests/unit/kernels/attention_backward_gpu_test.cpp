// attention_backward on the GPU: the table of the CPU, and heads as wide as in real models.
#define TX_TEST_DEVICE "cuda"
#include "tests/unit/kernels/attention_backward_test.cpp"

BOOST_AUTO_TEST_SUITE(attention_backward)

BOOST_AUTO_TEST_CASE(wide_heads_table) {
  const std::vector<Packed> shapes = {
      {{16, 0, 64, 1, 130}, {16, 0, 64, 1, 130}, 3, 3, 64, 64, true, 0, 0.1},
      {{15, 7, 65, 33}, {16, 0, 64, 130}, 2, 2, 64, 64, false, 0, 0},
      {{40, 9, 70}, {40, 9, 70}, 8, 8, 32, 32, true, 0, 0.1},
      {{20, 90}, {80, 17}, 4, 2, 64, 32, false, 0, 0.3},
      {{33, 70}, {70, 33}, 1, 1, 128, 128, true, 0, 0},
      {{5, 18}, {35, 18}, 2, 1, 136, 130, true, 0, 0.1}};  // without tensor cores
  for (const Packed& shape : shapes) check_gradients(shape, DType::bf16);
}

BOOST_AUTO_TEST_CASE(short_and_long_sentences) {
  for (const Packed& shape : tile_ends()) {
    check_gradients(shape, DType::bf16);
    check_sentences_alone(shape, DType::bf16);
  }
}

BOOST_AUTO_TEST_SUITE_END()
