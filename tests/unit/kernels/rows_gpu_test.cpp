// column_sum, add, dropout_sum, gather_rows and scatter_rows on the GPU: the table of
// rows_test.cpp, and wide rows.
#include "tests/unit/kernels/rows_test.cpp"

BOOST_AUTO_TEST_SUITE(rows)

BOOST_AUTO_TEST_CASE(rows_in_packs) {
  for (const DType t : dtypes())
    for (const int64_t width : {512, 1024, 4096, 4100})
      BOOST_TEST_CONTEXT(name_of(t) << ", width " << width) {
        check_column_sum(t, 70, width, true);
        check_sums(t, 5, width, 0.1);
        check_moves(t, 5, width);
      }
}

// More parts than are added in parallel.
BOOST_AUTO_TEST_CASE(a_sum_over_many_rows) {
  for (const DType t : dtypes()) check_column_sum(t, 2500, 17, false);
}

BOOST_AUTO_TEST_SUITE_END()
