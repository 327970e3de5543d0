// attention and attention_weights on the GPU: the table of the CPU, and heads as wide as in real
// models, whose products run on tensor cores.
#define TX_TEST_DEVICE "cuda"
#include "tests/unit/kernels/attention_test.cpp"

namespace {

std::vector<Packed> wide_heads() {
  const std::vector<int64_t> a = {16, 0, 64, 1, 200}, b = {15, 7, 65, 33, 128};
  std::vector<Packed> all;
  all.push_back({a, a, 3, 3, 64, 64, true, 0, 0.1});
  all.push_back({b, a, 2, 2, 64, 64, false, 0, 0});
  all.push_back({{40, 9, 70}, {40, 9, 70}, 8, 8, 32, 32, true, 0, 0.1});
  all.push_back({{20, 90}, {80, 17}, 4, 2, 64, 32, false, 0, 0.3});
  all.push_back({{33, 70}, {70, 33}, 1, 1, 128, 128, true, 0, 0});
  all.push_back({{5, 18}, {35, 18}, 2, 1, 136, 130, true, 0, 0.1});  // without tensor cores
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(attention)

BOOST_AUTO_TEST_CASE(wide_heads_table) {
  for (const Packed& shape : wide_heads()) check_sums(shape, DType::bf16);
}

BOOST_AUTO_TEST_CASE(short_and_long_sentences) {
  for (const Packed& shape : tile_ends()) {
    check_sums(shape, DType::bf16);
    check_sentences_alone(shape, DType::bf16);
  }
}

// A batch of fixed capacity is padded with sentences without tokens.
BOOST_AUTO_TEST_CASE(empty_sentences_at_the_end) {
  Packed shape{{3, 20}, {3, 20}, 2, 2, 64, 64, true, 0, 0.1};
  const Scene few(shape, DType::bf16);
  const Results want = run_scene(few);
  shape.queries.resize(40), shape.keys.resize(40);
  const Results got = run_scene(Scene(shape, DType::bf16));
  BOOST_TEST(same_bits(got[0], want[0]));
  BOOST_TEST(same_bits(got[1], want[1]));
}

BOOST_AUTO_TEST_SUITE_END()
