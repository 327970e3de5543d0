// square_sums, gradient_norm, adam and sgd on a GPU: the table of adam_test.cpp, then a block
// larger than one pass of the grid.
#include "tests/unit/kernels/adam_test.cpp"

BOOST_AUTO_TEST_SUITE(adam_large)

BOOST_AUTO_TEST_CASE(large_blocks) {
  for (const bool sgd : {false, true}) check(Problem(DType::f32, 1'300'003, 700'001, true), sgd);
  const Dense g = random_dense(1, 1'300'003, DType::f32, 1, -1, 2);
  double square = 0;
  for (const double x : g.data) square += x * x;
  const StepRecord r = norm_of(g, DType::f32, 1);
  check_close({{r.gradient_norm}}, {{std::sqrt(square)}}, {1e-12, 0});
  check_close({{r.clip_factor}}, {{1 / std::sqrt(square)}}, {1e-12, 0});
}

// A slice of a flat block may start anywhere; its elements get the same bits as in the whole block.
BOOST_AUTO_TEST_CASE(slices_agree_with_the_whole) {
  const Problem whole(DType::f32, 5000, 0, true);
  const Results all = run_problem(whole);
  for (const int64_t first : {1, 2, 3, 4, 1021}) {
    Problem part = whole;
    part.size = 777;
    for (Dense* x : {&part.w, &part.g, &part.m, &part.v})
      *x = Dense(1, part.size), std::copy_n((x == &part.w   ? whole.w
                                             : x == &part.g ? whole.g
                                             : x == &part.m ? whole.m
                                                            : whole.v)
                                                    .data.begin() +
                                                first,
                                            part.size, x->data.begin());
    const Results got = run_problem(part);
    for (size_t i = 0; i < got.size(); ++i)
      BOOST_TEST(std::equal(got[i].data.begin(), got[i].data.end(), all[i].data.begin() + first));
  }
}

BOOST_AUTO_TEST_SUITE_END()
