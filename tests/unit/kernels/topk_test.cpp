// log_softmax, topk, log_softmax_topk, also of lists.
#include <algorithm>
#include <numeric>

#include "tests/unit/kernels/checker.h"

using namespace tx_test;

namespace {

Dense naive_log_softmax(const Dense& x, int64_t vocabulary) {
  Dense out(x.rows, vocabulary);
  for (int64_t i = 0; i < x.rows; ++i) {
    double max = -INFINITY, sum = 0;
    for (int64_t j = 0; j < vocabulary; ++j) max = std::max(max, x(i, j));
    for (int64_t j = 0; j < vocabulary; ++j) sum += std::exp(x(i, j) - max);
    for (int64_t j = 0; j < vocabulary; ++j) out(i, j) = x(i, j) - max - std::log(sum);
  }
  return out;
}

// Values and columns of the k best of each row; ties go to the lower column.
Results naive_topk(const Dense& x, int64_t columns, int64_t k) {
  Results out = {Dense(x.rows, k), Dense(x.rows, k)};
  for (int64_t i = 0; i < x.rows; ++i) {
    std::vector<int64_t> order(static_cast<size_t>(columns));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return x(i, a) > x(i, b); });
    for (int64_t n = 0; n < k; ++n) {
      out[0](i, n) = x(i, order[size_t(n)]);
      out[1](i, n) = double(order[size_t(n)]);
    }
  }
  return out;
}

// Runs one of the two kernels; values and ids as matrices.
Results run_topk(const Dense& x, DType t, int64_t columns, int k, bool normalise) {
  Results got = run_layouts([&](Run& run) {
    const Matrix m = run.input(x, t);
    const size_t size = size_t(x.rows) * size_t(k);
    float* values = run.array(std::vector<float>(size, NAN), Access::write);
    int32_t* ids = run.array(std::vector<int32_t>(size, -1), Access::write);
    run.call([&](auto& b) {
      if (normalise)
        b.log_softmax_topk(m, columns, k, values, ids);
      else
        b.topk(m, columns, k, values, ids);
    });
    run.keep(values, int64_t(size));
    run.keep(ids, int64_t(size));
  });
  for (Dense& d : got) d.rows = x.rows, d.cols = k;
  return got;
}

Dense run_log_softmax(const Dense& x, DType t, int64_t vocabulary) {
  return run_layouts([&](Run& run) {
    const Matrix m = run.input(x, t), out = run.output(x.rows, vocabulary, DType::f32);
    run.call([&](auto& b) { b.log_softmax(m, vocabulary, out); });
    run.keep(out);
  })[0];
}

void check_topk(const Dense& x, DType t, int64_t columns, int k) {
  const Results got = run_topk(x, t, columns, k, false);
  const Results want = naive_topk(round_to(DType::f32, x), columns, k);
  check_close(got[0], want[0], {0, 0});
  check_close(got[1], want[1], {0, 0});
  // log_softmax_topk gives the best of log_softmax, bit for bit.
  const Results best = naive_topk(run_log_softmax(x, t, columns), columns, k);
  const Results normalised = run_topk(x, t, columns, k, true);
  BOOST_TEST(same_bits(normalised[0], best[0]));
  BOOST_TEST(same_bits(normalised[1], best[1]));
}

// Rows with lists of their own, one of them empty, against the gathered columns, bit for bit. One
// element of each list is 0 and far above the others: its log P shows the last bits of their sum.
void check_lists(DType t, int64_t columns, int k) {
  constexpr int64_t rows = 5;
  constexpr int32_t gaps[rows] = {1, 2, 3, 0, 1};
  Dense x = random_dense(rows, columns, t, 1, -16, -6);
  std::vector<int32_t> all, first, count;
  for (int32_t i = 0; i < rows; ++i) {
    first.push_back(int32_t(all.size()));
    for (int32_t j = i; gaps[i] && j < columns; j += gaps[i]) all.push_back(j);
    count.push_back(int32_t(all.size()) - first.back());
    if (count.back() > 0) x(i, all[size_t(first.back() + count.back() / 2)]) = 0;
  }
  const size_t size = size_t(rows * k);
  Results got = run_layouts([&](Run& run) {
    const Matrix m = run.input(x, t);
    float* values = run.array(std::vector<float>(size, NAN), Access::write);
    int32_t* ids = run.array(std::vector<int32_t>(size, -2), Access::write);
    const tx::RowLists lists{run.array(all), run.array(first), run.array(count)};
    run.call([&](auto& b) { b.log_softmax_topk_of_lists(m, lists, k, values, ids); });
    run.keep(values, int64_t(size));
    run.keep(ids, int64_t(size));
  });
  for (Dense& d : got) d.rows = rows, d.cols = k;
  Results want = {Dense(rows, k, -INFINITY), Dense(rows, k, -1)};
  for (int64_t i = 0; i < rows; ++i) {
    const int width = count[size_t(i)], kept = std::min(width, k);
    if (kept == 0) continue;
    Dense own(1, width);
    for (int j = 0; j < width; ++j) own(0, j) = x(i, all[size_t(first[size_t(i)] + j)]);
    const Results best = run_topk(own, t, width, kept, true);
    for (const size_t which : {size_t(0), size_t(1)})
      for (int n = 0; n < kept; ++n) want[which](i, n) = best[which](0, n);
  }
  BOOST_TEST(same_bits(got[0], want[0]));
  BOOST_TEST(same_bits(got[1], want[1]));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(topk)

BOOST_AUTO_TEST_CASE(log_softmax_table) {
  for (const DType t : dtypes())
    for (const int64_t rows : odd_sizes())
      for (const int64_t vocabulary : {1, 3, 17, 63, 130, 1000}) {
        Dense x = random_dense(rows, vocabulary + 3, t, 1, -8, 8);
        for (int64_t i = 0; i < rows; ++i) x(i, vocabulary) = 1000;  // padding
        BOOST_TEST_CONTEXT(name_of(t) << ", " << rows << " rows, V " << vocabulary)
        check_close(run_log_softmax(x, t, vocabulary), naive_log_softmax(x, vocabulary),
                    {0, 3e-7, 1});
      }
}

BOOST_AUTO_TEST_CASE(log_softmax_known_and_extreme) {
  const double none = -INFINITY;
  check_close(run_log_softmax({{1000, 999}}, DType::f32, 2),
              {{std::log(.731059), std::log(.268941)}}, {0, 1e-6, 100});
  const Dense x = {{0, none, 0, none}, {none, 3, none, none}, {-1000, -1000, -1000, -1000}};
  const double half = -std::log(2), quarter = -std::log(4);
  const Dense want = {
      {half, none, half, none}, {none, 0, none, none}, {quarter, quarter, quarter, quarter}};
  check_close(run_log_softmax(x, DType::f32, 4), want, {0, 1e-6, 100});
  check_close(run_log_softmax({{1, NAN, 2}}, DType::f32, 3), Dense(1, 3, NAN), {0, 0});
}

BOOST_AUTO_TEST_CASE(table) {
  for (const DType t : dtypes())
    for (const int64_t rows : {1, 3, 17})
      for (const int64_t columns : {1, 3, 17, 63, 64, 65, 130, 1000})
        for (const int k : {1, 2, 3, 8, 17, 63, 64, 65, 130, 1000}) {
          if (k > columns) continue;
          BOOST_TEST_CONTEXT(name_of(t) << ", " << rows << " x " << columns << ", k " << k) {
            check_topk(random_dense(rows, columns + 2, t, 1, -8, 8), t, columns, k);
          }
        }
}

// Long rows, some of which have their best values side by side.
BOOST_AUTO_TEST_CASE(vocabularies) {
  for (const int64_t columns : {5000, 70000})
    for (const int k : {1, 4, 37, 300}) {
      Dense x = random_dense(2, columns, DType::f32, 1, -8, 8);
      for (int64_t j = 0; j < 2 * k; ++j) x(1, columns / 3 + j) = 9 + double(j % 5);
      BOOST_TEST_CONTEXT(columns << ", k " << k) check_topk(x, DType::f32, columns, k);
    }
}

// Few distinct values, rising and falling rows.
BOOST_AUTO_TEST_CASE(ties_go_to_the_lower_column) {
  for (const DType t : dtypes())
    for (const int k : {1, 4, 8, 65}) {
      Dense x(4, 300);
      for (int64_t j = 0; j < 300; ++j) {
        x(0, j) = 1;
        x(1, j) = double(j * 7 % 5);
        x(2, j) = double(j / 60);
        x(3, j) = double(-(j / 60));
      }
      BOOST_TEST_CONTEXT(name_of(t) << ", k " << k) check_topk(x, t, 300, k);
    }
}

BOOST_AUTO_TEST_CASE(infinities) {
  Dense x = random_dense(3, 130, DType::f32, 1);
  for (int64_t j = 0; j < 130; ++j) {
    x(1, j) = -INFINITY;
    if (j % 3) x(2, j) = -INFINITY;
  }
  for (const int k : {1, 8, 70}) {
    const Results got = run_topk(x, DType::f32, 130, k, false), want = naive_topk(x, 130, k);
    check_close(got[0], want[0], {0, 0});
    check_close(got[1], want[1], {0, 0});
  }
  x(0, 99) = INFINITY;
  BOOST_TEST(run_topk(x, DType::f32, 130, 4, false)[1](0, 0) == 99);
}

// For any values, the ids are distinct columns of the row.
BOOST_AUTO_TEST_CASE(not_a_number_gives_valid_columns) {
  for (const int64_t bad : {0, 1, 70, 129, 130})
    for (const bool normalise : {false, true}) {
      Dense x = random_dense(1, 130, DType::f32, 1);
      for (int64_t j = 0; j < 130; ++j)
        if (j == bad || bad == 130) x(0, j) = NAN;
      std::vector<double> ids = run_topk(x, DType::f32, 130, 8, normalise)[1].data;
      std::sort(ids.begin(), ids.end());
      BOOST_TEST((std::adjacent_find(ids.begin(), ids.end()) == ids.end()));
      BOOST_TEST(ids.front() >= 0);
      BOOST_TEST(ids.back() < 130);
    }
}

BOOST_AUTO_TEST_CASE(lists_of_columns) {
  for (const DType t : dtypes())
    for (const int64_t columns : {20, 1000, 4100})
      for (const int k : {1, 8, 70}) {
        BOOST_TEST_CONTEXT(name_of(t) << ", " << columns << " columns, k " << k)
        check_lists(t, columns, k);
      }
}

BOOST_AUTO_TEST_CASE(rows_do_not_depend_on_other_rows) {
  for (const DType t : dtypes())
    for (const int64_t vocabulary : {63, 1000}) {
      const Dense x = random_dense(63, vocabulary, t, 1, -8, 8);
      check_rows_alone(x.rows, [&](Run& run, int64_t first, int64_t count) {
        const Matrix m = run.input(x.slice(first, count), t);
        const Matrix out = run.output(count, vocabulary, DType::f32);
        run.call([&](auto& b) { b.log_softmax(m, vocabulary, out); });
        run.keep(out);
      });
    }
}

BOOST_AUTO_TEST_SUITE_END()
