// add_norm_backward on the GPU: the table of norm_backward_test.cpp, and wide rows.
#include "tests/unit/kernels/norm_backward_test.cpp"

BOOST_AUTO_TEST_SUITE(norm_backward)

// Rows held by one warp or by several, and rows read twice; 33 rows are summed in two parts.
BOOST_AUTO_TEST_CASE(rows_of_every_kernel) {
  for (const DType t : dtypes())
    for (const int64_t width : {256, 512, 1001, 1024, 4096, 4104})
      BOOST_TEST_CONTEXT(name_of(t) << ", width " << width) {
        check(Problem(t, 33, width, {true, true, true, false, false}, 0.1));
        check(Problem(t, 3, width, {false, true, true, true, true}, 0.1));
      }
}

BOOST_AUTO_TEST_SUITE_END()
