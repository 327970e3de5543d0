// recurrence and recurrence_backward.
#include "tests/unit/kernels/checker.h"

using namespace tx_test;

namespace {

struct Problem {
  DType t;
  int64_t width;
  std::vector<int32_t> offsets;
  Dense x, bias, dy;

  Problem(DType type, std::vector<int32_t> rows, int64_t d)
      : t(type),
        width(d),
        offsets(std::move(rows)),
        x(random_dense(offsets.back(), 2 * d, t, 1, -3, 3)),
        bias(random_dense(1, d, sum_type(t), 2)),
        dy(random_dense(offsets.back(), d, t, 3)) {}
  double gate(int64_t i, int64_t j) const {
    return 1 / (1 + std::exp(-x(i, width + j) - bias(0, j)));
  }
};

Dense naive_cells(const Problem& p) {
  Dense c(p.x.rows, p.width);
  for (size_t s = 0; s + 1 < p.offsets.size(); ++s)
    for (int64_t i = p.offsets[s]; i < p.offsets[s + 1]; ++i)
      for (int64_t j = 0; j < p.width; ++j)
        c(i, j) =
            (1 - p.gate(i, j)) * p.x(i, j) + (i > p.offsets[s] ? p.gate(i, j) * c(i - 1, j) : 0.0);
  return c;
}

Dense positive(Dense x) {
  for (double& value : x.data) value = value <= 0 ? 0 : value;
  return x;
}

// By the chain rule over all pairs of rows: how row t's output depends on the inputs of row i.
Dense naive_backward(const Problem& p) {
  const Dense c = naive_cells(p);
  Dense dx(p.x.rows, 2 * p.width);
  for (size_t s = 0; s + 1 < p.offsets.size(); ++s)
    for (int64_t i = p.offsets[s]; i < p.offsets[s + 1]; ++i)
      for (int64_t j = 0; j < p.width; ++j) {
        double dc = 0, factor = 1;  // of cell i in cell t
        for (int64_t t = i; t < p.offsets[s + 1]; ++t) {
          if (t > i) factor *= p.gate(t, j);
          if (c(t, j) > 0) dc += factor * p.dy(t, j);
        }
        const double g = p.gate(i, j), before = i > p.offsets[s] ? c(i - 1, j) : 0;
        dx(i, j) = dc * (1 - g);
        dx(i, p.width + j) = dc * (before - p.x(i, j)) * g * (1 - g);
      }
  return dx;
}

tx::Recurrence view_of(Run& run, const Problem& p, int64_t cells) {
  tx::Recurrence r;
  r.x = run.input(p.x, p.t);
  r.bias = run.input(p.bias, sum_type(p.t));
  r.cells = run.output(cells, p.width, sum_type(p.t));
  r.y = run.output(p.x.rows, p.width, p.t);
  return r;
}

void check(const Problem& p) {
  const Results got = run_layouts([&](Run& run) {
    tx::Recurrence r = view_of(run, p, p.x.rows);
    r.offsets = run.array(p.offsets);
    r.sentences = int64_t(p.offsets.size()) - 1;
    const Matrix dy = run.input(p.dy, p.t), dx = run.output(p.x.rows, 2 * p.width, p.t);
    run.call([&](auto& b) { b.recurrence(r); });
    run.keep(r.cells);
    run.keep(r.y);
    run.call([&](auto& b) { b.recurrence_backward(r, dy, dx); });
    run.keep(dx);
  });
  check_close(got[0], naive_cells(p), sum_type(p.t));
  check_close(got[1], positive(naive_cells(p)), p.t);
  check_close(got[2], naive_backward(p), p.t);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recurrence)

BOOST_AUTO_TEST_CASE(table) {
  for (const DType t : dtypes())
    for (const int64_t width : {1, 8, 16, 33, 130})
      for (const std::vector<int32_t>& offsets : {std::vector{0, 1}, {0, 40}, {0, 3, 3, 4, 21, 30}})
        BOOST_TEST_CONTEXT(name_of(t)
                           << ", width " << width << ", " << offsets.size() << " offsets")
  check(Problem(t, offsets, width));
}

// Rows of decoding have the bits of a whole sentence's, wherever their cells are.
BOOST_AUTO_TEST_CASE(rows_by_index) {
  for (const DType t : dtypes())
    for (const int64_t width : {5, 32, 300}) {
      const Problem p(t, {0, 1, 2, 3, 4}, width);
      const Results got = run_layouts([&](Run& run) {
        tx::Recurrence r = view_of(run, p, 9);
        r.from = run.array(std::vector<int32_t>{-1, -1, -1, -1});
        r.to = run.array(std::vector<int32_t>{7, 0, 3, 4});
        run.call([&](auto& b) { b.recurrence(r); });
        run.keep(r.y);
        r.from = run.array(std::vector<int32_t>{7, 7, 4, -1});
        r.to = run.array(std::vector<int32_t>{1, 2, 5, 6});
        run.call([&](auto& b) { b.recurrence(r); });
        run.keep(r.y);
      });
      for (const auto& [row, from] : {std::pair{0, 0}, {1, 0}, {2, 3}, {3, -1}}) {
        Problem pair(t, {0, 2}, width);
        for (int64_t j = 0; j < 2 * width; ++j) {
          pair.x(0, j) = p.x(from < 0 ? row : from, j);
          pair.x(1, j) = p.x(row, j);
        }
        pair.bias = p.bias;
        if (from < 0) pair.offsets = {0, 1, 2};
        const Dense want = positive(naive_cells(pair));
        Dense second(1, width), mine(1, width);
        for (int64_t j = 0; j < width; ++j) second(0, j) = want(1, j), mine(0, j) = got[1](row, j);
        check_close(mine, second, t);
      }
    }
}

BOOST_AUTO_TEST_CASE(known_values, *needs_f64()) {
  Problem p(DType::f64, {0, 2}, 1);
  p.x = {{2, 0}, {-3, std::log(3.0)}};  // gates 1/2 and 3/4
  p.bias = Dense(1, 1);
  check_close(naive_cells(p), {{1}, {0}}, {0, 1e-12});
  check(p);
}

// Gates far outside the range of exp().
BOOST_AUTO_TEST_CASE(extreme_gates) {
  for (const DType t : dtypes()) {
    Problem p(t, {0, 4}, 16);
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 16; ++j) p.x(i, 16 + j) = (i + j) % 2 ? 1000 : -1000;
    check(p);
  }
}

BOOST_AUTO_TEST_SUITE_END()
