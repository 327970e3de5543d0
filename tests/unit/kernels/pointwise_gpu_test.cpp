// activate and its gradient on the GPU: the table of pointwise_test.cpp, and wide rows.
#include "tests/unit/kernels/pointwise_test.cpp"

BOOST_AUTO_TEST_SUITE(pointwise)

BOOST_AUTO_TEST_CASE(rows_in_packs) {
  for (const DType t : dtypes())
    for (const int64_t width : {512, 1024, 4096, 4100})
      for (const Activation a : {Activation::none, Activation::relu, Activation::gelu})
        BOOST_TEST_CONTEXT(name_of(t) << ", width " << width << ", activation " << int(a)) {
          const Problem p(t, 5, width, a, 0.1);
          check_close(run_forward(p), naive(p, false), t);
          check_backward(p, true);
        }
}

BOOST_AUTO_TEST_SUITE_END()
