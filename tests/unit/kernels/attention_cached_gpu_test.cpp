// attention_cached on the GPU: the table of the CPU, and hypotheses that share their keys.
#define TX_TEST_DEVICE "cuda"
#include "tests/unit/kernels/attention_cached_test.cpp"

BOOST_AUTO_TEST_SUITE(attention_cached)

// Beams of one to nine hypotheses per sentence, at any position among the rows. Rows with the same
// first key but different lengths are not one beam.
BOOST_AUTO_TEST_CASE(beams) {
  for (const DType t : dtypes())
    for (const int d : {64, 17, 96}) {
      std::vector<int32_t> lengths, first;
      for (const int beam : {4, 4, 3, 1, 9, 2, 5})
        for (int i = 0; i < beam; ++i) {
          lengths.push_back(beam == 5 && i == 3 ? 8 : 10 * beam);
          first.push_back(20 * beam);
        }
      Decoding p(t, lengths, 2, d, d, false);
      p.first = first;
      BOOST_TEST_CONTEXT(name_of(t) << ", d " << d) {
        check_close(run_all(p), naive(p), t, 2);
        if (d != 64) continue;
        check_rows_alone(p.rows(), [&](Run& run, int64_t row, int64_t count) {
          run.keep(call(p, run, row, count));
        });
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
