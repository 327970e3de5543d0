// guide_attention on a GPU: the table of attention_guide_test.cpp, and wide heads.
#define TX_TEST_DEVICE "cuda"
#include "tests/unit/kernels/attention_guide_test.cpp"

BOOST_AUTO_TEST_SUITE(attention_guide)

BOOST_AUTO_TEST_CASE(wide_heads_table) {
  const std::vector<Packed> shapes = {{{16, 0, 64, 1, 130}, {16, 7, 64, 1, 30}, 3, 3, 64, 64},
                                      {{20, 90}, {80, 17}, 4, 2, 128, 32},
                                      {{5, 18}, {35, 18}, 2, 1, 136, 130}};
  for (const DType t : dtypes())
    for (const Packed& shape : shapes) {
      const Guided s(shape, t);
      BOOST_TEST_CONTEXT(s) {
        const Outcome want = naive(s);
        const Results got = run_scene(s, NaiveAttention(s).lse);
        check_close(got[1], want.dq, t, 4);
        check_close(got[2], want.dk, t, 4);
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
