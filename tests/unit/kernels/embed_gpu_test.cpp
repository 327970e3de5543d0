// embed and its gradient on the GPU: the table of embed_test.cpp, wide rows, and ids that occur in
// many rows or need several passes of the sort.
#define TX_EMBED_ON_GPU
#include "tests/unit/kernels/embed_test.cpp"

namespace {

// The gradient of `ids` into a table of `count` rows.
void check_ids(DType t, const std::vector<int32_t>& ids, int64_t count, int64_t width) {
  Problem p(t, int64_t(ids.size()), width, 0.1);
  p.ids = ids;
  p.table = random_dense(count, width, t, 1);
  p.dtable = random_dense(count, width, sum_type(t), 5);
  BOOST_TEST_CONTEXT(name_of(t) << ", " << ids.size() << " rows, width " << width)
  check_backward(p);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(embed)

BOOST_AUTO_TEST_CASE(rows_in_packs) {
  for (const DType t : dtypes())
    for (const int64_t width : {512, 1024, 4096})
      BOOST_TEST_CONTEXT(name_of(t) << ", width " << width) {
        check_forward(Problem(t, 7, width, 0.1));
        check_backward(Problem(t, 7, width, 0.1));
      }
}

// Ids of 24 bits take three passes of the sort.
BOOST_AUTO_TEST_CASE(ids_of_many_digits) {
  for (const int64_t count : {256, 257, 70000}) {
    std::vector<int32_t> ids = random_ids(300, count, 4);
    ids[7] = ids[200] = int32_t(count - 1);
    ids[299] = 0;
    check_ids(DType::f32, ids, count, 3);
  }
}

// Row counts around multiples of a chunk (64), then one id that fills several tiles of the sort.
BOOST_AUTO_TEST_CASE(ids_that_stand_in_many_rows) {
  for (const DType t : dtypes())
    for (const int64_t many : {63, 64, 65, 129}) {
      std::vector<int32_t> ids(size_t(3 * many), 5);
      for (size_t i = 0; i < ids.size(); ++i)
        if (i % 3 == 1) ids[i] = int32_t(i / 3 % 2 ? 2 : 9);
      check_ids(t, ids, words, 17);
    }
  std::vector<int32_t> ids(2500, 5);
  for (size_t i = 0; i < ids.size(); i += 11) ids[i] = int32_t(i % words);
  check_ids(DType::bf16, ids, words, 8);
}

BOOST_AUTO_TEST_SUITE_END()
