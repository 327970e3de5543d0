// cross_entropy on a GPU: the table of loss_test.cpp, then rows of real vocabularies.
#include "tests/unit/kernels/loss_test.cpp"

BOOST_AUTO_TEST_SUITE(loss_wide)

// Aligned and padded as in training; 60,000 columns of f32 exceed the shared memory of a block.
BOOST_AUTO_TEST_CASE(wide_rows) {
  const std::pair<int64_t, int64_t> widths[] = {
      {8000, 64}, {12000, 0}, {24000, 0}, {37000, 8}, {60000, 32}};
  for (const DType t : dtypes())
    for (const auto& [vocabulary, padding] : widths)
      for (const double smoothing : {0.0, 0.1})
        BOOST_TEST_CONTEXT(name_of(t) << ", V " << vocabulary << ", smoothing " << smoothing)
  check(Problem(t, 3, vocabulary, padding, smoothing));
}

// More rows than the threads that add them up.
BOOST_AUTO_TEST_CASE(many_rows) {
  for (const int64_t rows : {1023, 1024, 1025, 3000}) check(Problem(DType::bf16, rows, 17, 7, 0.1));
}

BOOST_AUTO_TEST_CASE(wide_rows_do_not_depend_on_other_rows) {
  for (const DType t : dtypes()) {
    const Problem p(t, 5, 8000, 64, 0.1);
    check_rows_alone(p.rows, [&](Run& run, int64_t first, int64_t count) {
      const Matrix logits = run.inout(p.logits.slice(first, count), t);
      const int32_t* labels = run.array(part_of(p.labels, first, count));
      StepRecord* record = run.record({});
      run.call([&](auto& b) { b.cross_entropy(logits, labels, 8000, 0.1, true, record); });
      run.keep(logits);
    });
  }
}

BOOST_AUTO_TEST_SUITE_END()
