// Memory, copies and convert on the GPU: the cases of memory_test.cpp, and wide rows.
#include "tests/unit/kernels/memory_test.cpp"

BOOST_AUTO_TEST_SUITE(memory)

// A flat block is one row of many tiles.
BOOST_AUTO_TEST_CASE(convert_in_packs) {
  for (const DType from : dtypes())
    for (const DType to : dtypes())
      for (const int64_t rows : {1, 5})
        for (const int64_t cols : {512, 1024, 4096, 5000}) {
          const Dense x = random_dense(rows, cols, from, 5, -3, 3);
          const Results out = run_layouts([&](Run& run) {
            const Matrix a = run.input(x, from), b = run.output(rows, cols, to);
            run.call([&](auto& backend) { backend.convert(a, b); });
            run.keep(b);
          });
          BOOST_TEST_CONTEXT(name_of(from)
                             << " to " << name_of(to) << ", " << rows << " x " << cols)
          check_close(out[0], round_to(to, x), {0, 0});
        }
}

BOOST_AUTO_TEST_SUITE_END()
