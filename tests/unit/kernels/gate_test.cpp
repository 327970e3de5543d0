// gate, gate_backward and rotate.
#include "tests/unit/kernels/checker.h"

using namespace tx_test;
using tx::Activation;

namespace {

struct Problem {
  DType t;
  int64_t rows, width;
  Activation activation;
  Drop drop;
  Dense x, dy, dbias;

  Problem(DType type, int64_t n, int64_t d, Activation a, double p)
      : t(type),
        rows(n),
        width(d),
        activation(a),
        drop(random_drop(p, n)),
        x(random_dense(n, 2 * d, t, 1, -3, 3)),
        dy(random_dense(n, d, t, 2)),
        dbias(random_dense(1, 2 * d, sum_type(t), 3)) {}
};

double tanh_argument(double x) { return std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x); }

double function(Activation a, double x) {
  if (a == Activation::swiglu) return x / (1 + std::exp(-x));
  if (a == Activation::geglu_tanh) return x / 2 * (1 + std::tanh(tanh_argument(x)));
  return x * 0.5 * std::erfc(-x / std::sqrt(2));
}
double slope(Activation a, double x) {
  const double s = 1 / (1 + std::exp(-x));
  if (a == Activation::swiglu) return s + x * s * (1 - s);
  if (a == Activation::geglu_tanh) {
    const double t = std::tanh(tanh_argument(x));
    return (1 + t) / 2 + x / 2 * (1 - t * t) * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
  }
  return 0.5 * std::erfc(-x / std::sqrt(2)) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
}

Dense naive(const Problem& p) {
  Dense y(p.rows, p.width);
  for (int64_t i = 0; i < p.rows; ++i)
    for (int64_t j = 0; j < p.width; ++j)
      y(i, j) = p.drop.factor(i, j) * function(p.activation, p.x(i, j)) * p.x(i, p.width + j);
  return y;
}

Dense naive_backward(const Problem& p) {
  Dense dx(p.rows, 2 * p.width);
  for (int64_t i = 0; i < p.rows; ++i)
    for (int64_t j = 0; j < p.width; ++j) {
      const double g = p.drop.factor(i, j) * p.dy(i, j), gate = p.x(i, j);
      dx(i, j) = g * p.x(i, p.width + j) * slope(p.activation, gate);
      dx(i, p.width + j) = g * function(p.activation, gate);
    }
  return dx;
}

void check(const Problem& p, bool add_bias) {
  const Results got = run_layouts([&](Run& run) {
    const Matrix x = run.input(p.x, p.t), y = run.output(p.rows, p.width, p.t);
    const Matrix dy = run.input(p.dy, p.t), dx = run.output(p.rows, 2 * p.width, p.t);
    const Matrix in_place = run.inout(p.x, p.t);
    const Matrix dbias = run.inout(add_bias ? p.dbias : Dense(1, 2 * p.width, NAN), sum_type(p.t));
    const tx::Dropout drop = run.dropout(p.drop);
    run.call([&](auto& b) {
      b.gate(x, p.activation, drop, y);
      b.gate_backward(dy, x, p.activation, drop, dx, dbias, add_bias);
      b.gate_backward(dy, in_place, p.activation, drop, in_place, {}, false);
    });
    for (const Matrix& m : {y, dx, in_place, dbias}) run.keep(m);
  });
  check_close(got[0], naive(p), p.t);
  check_close(got[1], naive_backward(p), p.t);
  BOOST_TEST(same_bits(got[1], got[2]), "dx over x differs");
  Dense sums = add_bias ? p.dbias : Dense(1, 2 * p.width);
  for (int64_t i = 0; i < p.rows; ++i)
    for (int64_t j = 0; j < 2 * p.width; ++j) sums(0, j) += got[1](i, j);
  check_sum(got[3], sums, p.t, p.rows);
}

struct Turn {
  DType t;
  int64_t rows, heads;
  int width;
  std::vector<uint32_t> positions;
  Dense x, table;

  Turn(DType type, int64_t n, int64_t h, int d)
      : t(type), rows(n), heads(h), width(d), x(random_dense(n, h * d, t, 1)), table(70, d) {
    for (int64_t i = 0; i < n; ++i) positions.push_back(uint32_t(i * 13 % 70));
    for (int64_t p = 0; p < 70; ++p)
      for (int j = 0; j < d / 2; ++j) {
        const double angle = double(p) / std::pow(10.0, double(j));
        table(p, j) = round_to(sum_type(t), std::cos(angle));
        table(p, d / 2 + j) = round_to(sum_type(t), std::sin(angle));
      }
  }
};

Dense run_turn(const Turn& p, bool back, const Dense& x) {
  return run_layouts([&](Run& run) {
    const Matrix to = run.inout(x, p.t), table = run.input(p.table, sum_type(p.t));
    const uint32_t* positions = run.array(p.positions);
    run.call([&](auto& b) { b.rotate(to, p.width, table, positions, back); });
    run.keep(to);
  })[0];
}

Dense naive_turn(const Turn& p, bool back) {
  Dense y = p.x;
  const int half = p.width / 2;
  for (int64_t i = 0; i < p.rows; ++i)
    for (int64_t h = 0; h < p.heads; ++h)
      for (int j = 0; j < half; ++j) {
        const int64_t at = h * p.width + j, row = p.positions[size_t(i)];
        const double c = p.table(row, j), s = (back ? -1 : 1) * p.table(row, half + j);
        y(i, at) = p.x(i, at) * c - p.x(i, at + half) * s;
        y(i, at + half) = p.x(i, at + half) * c + p.x(i, at) * s;
      }
  return y;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gate)

BOOST_AUTO_TEST_CASE(table) {
  for (const DType t : dtypes())
    for (const int64_t rows : {1, 17, 130})
      for (const int64_t width : {1, 3, 8, 63, 128, 130})
        for (const Activation a : {Activation::swiglu, Activation::geglu, Activation::geglu_tanh})
          for (const double drop : {0.0, 0.1})
            BOOST_TEST_CONTEXT(name_of(t) << ", " << rows << " x " << width << ", p " << drop
                                          << ", activation " << int(a))
  check(Problem(t, rows, width, a, drop), width % 2 == 0);
}

// A tensor-parallel shard: it has some columns of a layer, and other ranks have the others.
BOOST_AUTO_TEST_CASE(masks_of_later_columns) {
  for (const DType t : dtypes()) {
    Problem p(t, 17, 24, Activation::swiglu, 0.3);
    p.drop.first = 72;
    check(p, false);
  }
}

BOOST_AUTO_TEST_CASE(known_values) {
  for (const DType t : dtypes()) {
    if (t == DType::bf16) continue;
    Problem p(t, 1, 2, Activation::swiglu, 0);
    p.x = {{1, -2, 3, 5}};
    check_close(naive(p), {{2.1931757, -1.1920292}}, {0, 1e-6});
    check(p, false);
  }
}

BOOST_AUTO_TEST_CASE(rotation_table) {
  for (const DType t : dtypes())
    for (const int64_t rows : {0, 1, 17, 130})
      for (const int64_t heads : {1, 3})
        for (const int width : {2, 6, 16, 64, 130}) {
          const Turn p(t, rows, heads, width);
          BOOST_TEST_CONTEXT(name_of(t) << ", " << rows << " rows, " << heads << " x " << width) {
            const Dense turned = run_turn(p, false, p.x);
            check_close(turned, naive_turn(p, false), t);
            check_close(run_turn(p, true, p.x), naive_turn(p, true), t);
            Tolerance limit = tolerance(t, 4);
            limit.of_scale = t == DType::bf16 ? 1e-2 : t == DType::f32 ? 1e-6 : 1e-14;
            check_close(run_turn(p, true, turned), p.x, limit);
          }
        }
}

BOOST_AUTO_TEST_SUITE_END()
