// log_softmax, topk and log_softmax_topk on a GPU: the table of topk_test.cpp, then rows of real
// vocabularies.
#include "tests/unit/kernels/topk_test.cpp"

BOOST_AUTO_TEST_SUITE(topk_wide)

// Aligned and padded; 60,000 columns of f32 exceed the shared memory of a block. Another algorithm
// is used for k above 64.
BOOST_AUTO_TEST_CASE(wide_rows) {
  for (const DType t : dtypes())
    for (const int64_t columns : {8000, 12000, 24000, 37000, 60000})
      for (const int k : {1, 8, 64, 65, 1000}) {
        BOOST_TEST_CONTEXT(name_of(t) << ", " << columns << " columns, k " << k)
        check_topk(random_dense(2, columns + 8, t, 1, -8, 8), t, columns, k);
      }
}

// The best are adjacent, at both ends of the row, and in one thread's columns.
BOOST_AUTO_TEST_CASE(crowded_rows) {
  for (const DType t : dtypes())
    for (const int k : {8, 100}) {
      Dense x(4, 8000);
      for (int64_t j = 0; j < 8000; ++j) {
        x(0, j) = double(j) / 16;
        x(1, j) = -double(j) / 16;
        x(2, j) = j % 1024 < 8 ? 5 : 4;
        x(3, j) = j % 2 ? 0.0 : -0.0;
      }
      const Dense rounded = round_to(t, x);
      BOOST_TEST_CONTEXT(name_of(t) << ", k " << k) check_topk(rounded, t, 8000, k);
    }
}

BOOST_AUTO_TEST_CASE(wide_rows_do_not_depend_on_other_rows) {
  for (const int k : {8, 70}) {
    const Dense x = random_dense(5, 8000, DType::bf16, 1, -8, 8);
    check_rows_alone(x.rows, [&](Run& run, int64_t first, int64_t count) {
      const Matrix m = run.input(x.slice(first, count), DType::bf16);
      const std::vector<float> none(size_t(count * k), NAN);
      float* values = run.array(none, Access::write);
      int32_t* ids = run.array(std::vector<int32_t>(none.size(), -1), Access::write);
      run.call([&](auto& b) { b.log_softmax_topk(m, 8000, k, values, ids); });
      Dense found(count, 2 * k);
      const std::vector<float> v = run.read(values, count * k);
      const std::vector<int32_t> n = run.read(ids, count * k);
      for (int64_t i = 0; i < count * k; ++i) {
        found(i / k, i % k) = double(v[size_t(i)]);
        found(i / k, k + i % k) = double(n[size_t(i)]);
      }
      run.keep(found);
    });
  }
}

// The whole row is one of the lists; blocks of the others would have other numbers of threads.
BOOST_AUTO_TEST_CASE(lists_of_wide_rows) {
  for (const DType t : {DType::f32, DType::bf16})
    for (const int64_t columns : {12000, 36000, 60000}) {
      BOOST_TEST_CONTEXT(name_of(t) << ", " << columns << " columns")
      check_lists(t, columns, 8);
    }
}

BOOST_AUTO_TEST_SUITE_END()
