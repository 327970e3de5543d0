// add_norm on the GPU: the table of norm_test.cpp, and a width for each way to hold a row.
#include "tests/unit/kernels/norm_test.cpp"

BOOST_AUTO_TEST_SUITE(norm)

// Without a shift, these rows are read in packs; the other layouts must give the same bits.
BOOST_AUTO_TEST_CASE(rows_of_every_kernel) {
  for (const DType t : dtypes())
    for (const int64_t width : {256, 384, 512, 1001, 1024, 2048, 4096, 4104, 6007})
      BOOST_TEST_CONTEXT(name_of(t) << ", width " << width) {
        check(Problem(t, 9, width, true, 0.1));
        check(Problem(t, 2, width, false, 0));
        Problem rms(t, 3, width, true, 0.1);
        rms.rms = true;
        check(rms);
      }
}

BOOST_AUTO_TEST_CASE(wide_constant_rows_give_beta) {
  for (const DType t : dtypes())
    for (const int64_t width : {1024, 4096, 4104}) {
      Problem p(t, 2, width, false, 0);
      p.sub = Dense(2, width, round_to(t, 1000.1));
      Dense want(2, width);
      for (int64_t j = 0; j < width; ++j) want(0, j) = want(1, j) = round_to(t, p.beta(0, j));
      BOOST_TEST_CONTEXT(name_of(t) << ", width " << width)
      check_close(run_problem(p)[0], want, {0, 0});
    }
}

BOOST_AUTO_TEST_SUITE_END()
