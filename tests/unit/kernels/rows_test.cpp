// column_sum, add, dropout_sum, gather_rows, scatter_rows, gather_columns.
#include "kernels/cpu/simd.h"
#include "tests/unit/kernels/checker.h"

using namespace tx_test;

namespace {

void check_column_sum(DType t, int64_t rows, int64_t width, bool add) {
  const Dense x = random_dense(rows, width, t, 1);
  Dense want = add ? random_dense(1, width, sum_type(t), 2) : Dense(1, width);
  const Results got = run_layouts([&](Run& run) {
    const Matrix m = run.input(x, t);
    const Matrix sum = run.inout(add ? want : Dense(1, width, NAN), sum_type(t));
    run.call([&](auto& b) { b.column_sum(m, sum, add); });
    run.keep(sum);
  });
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < width; ++j) want(0, j) += x(i, j);
  check_sum(got[0], want, t, rows);
}

void check_sums(DType t, int64_t rows, int64_t width, double p) {
  const Dense x = random_dense(rows, width, t, 1), sub = random_dense(rows, width, t, 2);
  const Drop drop = random_drop(p, rows);
  Dense want(rows, width), plain(rows, width);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < width; ++j) {
      want(i, j) = x(i, j) + drop.factor(i, j) * sub(i, j);
      plain(i, j) = x(i, j) + sub(i, j);
    }
  const Results got = run_layouts([&](Run& run) {
    const Matrix a = run.input(x, t), b = run.input(sub, t), y = run.output(rows, width, t);
    const Matrix over_x = run.inout(x, t), over_sub = run.inout(sub, t), sum = run.inout(x, t);
    const tx::Dropout d = run.dropout(drop);
    run.call([&](auto& backend) {
      backend.dropout_sum(a, b, d, y);
      backend.dropout_sum(over_x, b, d, over_x);
      backend.dropout_sum(a, over_sub, d, over_sub);
      backend.add(b, sum);
    });
    for (const Matrix& m : {y, over_x, over_sub, sum}) run.keep(m);
  });
  check_close(got[0], want, t);
  BOOST_TEST(same_bits(got[0], got[1]));
  BOOST_TEST(same_bits(got[0], got[2]));
  check_close(got[3], plain, t);
}

// Distinct rows in descending order, every second one, starting with the last.
std::vector<int32_t> places(int64_t rows, int64_t of) {
  std::vector<int32_t> all;
  for (int64_t i = 0; i < rows; ++i) all.push_back(int32_t((of - 1) - 2 * i % of));
  return all;
}

void check_moves(DType t, int64_t rows, int64_t width) {
  const int64_t many = 2 * rows + 1;
  const Dense from = random_dense(many, width, t, 1), few = random_dense(rows, width, t, 2);
  const std::vector<int32_t> at = places(rows, many);
  Dense gathered(rows, width), scattered = from;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < width; ++j) {
      gathered(i, j) = from(at[size_t(i)], j);
      scattered(at[size_t(i)], j) = few(i, j);
    }
  const Results got = run_layouts([&](Run& run) {
    const Matrix source = run.input(from, t), to = run.output(rows, width, t);
    const Matrix rows_in = run.input(few, t), into = run.inout(from, t);
    const int32_t* ids = run.array(at);
    run.call([&](auto& b) {
      b.gather_rows(source, ids, to);
      b.scatter_rows(rows_in, ids, into);
    });
    run.keep(to);
    run.keep(into);
  });
  check_close(got[0], gathered, {0, 0});
  check_close(got[1], scattered, {0, 0});
}

void check_columns(DType t, int64_t rows, int64_t width) {
  const Dense from = random_dense(rows, 2 * width + 1, t, 1);
  const std::vector<int32_t> at = places(width, 2 * width + 1);
  Dense gathered(rows, width);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < width; ++j) gathered(i, j) = from(i, at[size_t(j)]);
  const Results got = run_layouts([&](Run& run) {
    const Matrix source = run.input(from, t), to = run.output(rows, width, t);
    const int32_t* columns = run.array(at);
    run.call([&](auto& b) { b.gather_columns(source, columns, to); });
    run.keep(to);
  });
  check_close(got[0], gathered, {0, 0});
}

// From f32 to bf16, only on the CPU: stores the rounded values.
void check_rounding_move(int64_t rows, int64_t width) {
  const Dense few = random_dense(rows, width, DType::f32, 2);
  const std::vector<int32_t> at = places(rows, 2 * rows + 1);
  Dense wanted(2 * rows + 1, width);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < width; ++j) {
      tx::bf16 half;
      tx::store(half, float(few(i, j)));
      wanted(at[size_t(i)], j) = double(tx::load(half));
    }
  const Results got = run_layouts([&](Run& run) {
    const Matrix in = run.input(few, DType::f32);
    const Matrix into = run.inout(Dense(2 * rows + 1, width), DType::bf16);
    const int32_t* ids = run.array(at);
    run.call([&](auto& b) { b.scatter_rows(in, ids, into); });
    run.keep(into);
  });
  check_close(got[0], wanted, {0, 0});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rows)

// CUDA's scatter_rows cannot convert.
BOOST_AUTO_TEST_CASE(rounded_on_the_way, *only_on_the_cpu()) {
  for (const int64_t width : odd_sizes()) check_rounding_move(5, width);
}

BOOST_AUTO_TEST_CASE(table) {
  for (const DType t : dtypes())
    for (const int64_t rows : row_counts())
      for (const int64_t width : odd_sizes())
        BOOST_TEST_CONTEXT(name_of(t) << ", " << rows << " x " << width) {
          check_column_sum(t, rows, width, false);
          check_column_sum(t, rows, width, true);
          check_sums(t, rows, width, 0);
          check_sums(t, rows, width, 0.1);
          check_moves(t, rows, width);
          check_columns(t, rows, width);
        }
}

BOOST_AUTO_TEST_CASE(no_rows) {
  for (const DType t : dtypes()) {
    check_column_sum(t, 0, 17, false);
    check_column_sum(t, 0, 17, true);
  }
}

BOOST_AUTO_TEST_CASE(a_gathered_row_may_repeat) {
  const Dense from = random_dense(3, 17, DType::f32, 1);
  Run run(layouts()[1]);
  const Matrix source = run.input(from, DType::f32), to = run.output(4, 17, DType::f32);
  const int32_t* ids = run.array(std::vector<int32_t>{2, 2, 0, 2});
  run.call([&](auto& b) { b.gather_rows(source, ids, to); });
  const Dense got = run.read(to);
  for (int64_t j = 0; j < 17; ++j) {
    for (const int64_t i : {0, 1, 3}) BOOST_TEST(got(i, j) == from(2, j));
    BOOST_TEST(got(2, j) == from(0, j));
  }
  run.check_surroundings();
}

BOOST_AUTO_TEST_SUITE_END()
