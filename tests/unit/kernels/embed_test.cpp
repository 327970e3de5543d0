// embed and embed_backward.
#include <algorithm>
#include <numeric>

#include "kernels/cpu.h"
#include "tests/unit/kernels/checker.h"

using namespace tx_test;

namespace {

constexpr int64_t words = 11, longest = 130;

struct Problem {
  DType t;
  int64_t rows, width;
  std::vector<int32_t> ids;
  Drop drop;
  double scale;
  Dense table, positions, dout, dtable, dpositions;

  Problem(DType type, int64_t n, int64_t d, double p)
      : t(type),
        rows(n),
        width(d),
        ids(random_ids(n, words, 4)),
        drop(random_drop(p, n, longest)),
        scale(round_to(DType::f32, std::sqrt(double(d)))),
        table(random_dense(words, d, t, 1)),
        positions(random_dense(longest, d, sum_type(t), 2)),
        dout(random_dense(n, d, t, 3)),
        dtable(random_dense(words, d, sum_type(t), 5)),
        dpositions(random_dense(longest, d, sum_type(t), 6)) {}
};

Dense naive(const Problem& p) {
  Dense out(p.rows, p.width);
  for (int64_t i = 0; i < p.rows; ++i)
    for (int64_t j = 0; j < p.width; ++j)
      out(i, j) = p.drop.factor(i, j) * (p.scale * p.table(p.ids[size_t(i)], j) +
                                         p.positions(p.drop.position[size_t(i)], j));
  return out;
}

Results naive_backward(const Problem& p) {
  Results sums = {p.dtable, p.dpositions};
  for (int64_t i = 0; i < p.rows; ++i)
    for (int64_t j = 0; j < p.width; ++j) {
      const double g = p.drop.factor(i, j) * p.dout(i, j);
      sums[0](p.ids[size_t(i)], j) += p.scale * g;
      sums[1](p.drop.position[size_t(i)], j) += g;
    }
  return sums;
}

void check_forward(const Problem& p) {
  const Results got = run_layouts([&](Run& run) {
    const Matrix table = run.input(p.table, p.t);
    const Matrix positions = run.input(p.positions, sum_type(p.t));
    const Matrix out = run.output(p.rows, p.width, p.t);
    const tx::Dropout drop = run.dropout(p.drop);
    const int32_t* ids = run.array(p.ids);
    run.call([&](auto& b) { b.embed(ids, {}, table, p.scale, positions, drop, out); });
    run.keep(out);
  });
  check_close(got[0], naive(p), p.t);
}

std::vector<int32_t> sorted_rows(const std::vector<int32_t>& ids) {
  std::vector<int32_t> rows(ids.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](int32_t a, int32_t b) { return ids[size_t(a)] < ids[size_t(b)]; });
  return rows;
}

void check_backward(const Problem& p) {
  for (const bool learned : {false, true}) {
    const Results got = run_layouts([&](Run& run) {
      const Matrix dout = run.input(p.dout, p.t);
      const Matrix dtable = run.inout(p.dtable, sum_type(p.t));
      const Matrix dpositions = learned ? run.inout(p.dpositions, sum_type(p.t)) : Matrix{};
      const tx::Dropout drop = run.dropout(p.drop);
      const int32_t* ids = run.array(p.ids);
      // Without learned positions, the rows are sorted by id beforehand.
      const int32_t* by_id = learned ? nullptr : run.array(sorted_rows(p.ids));
      run.call([&](auto& b) {
        b.embed_backward(ids, by_id, {}, dout, p.scale, drop, dtable, dpositions);
      });
      run.keep(dtable);
      if (learned) run.keep(dpositions);
    });
    const Results want = naive_backward(p);
    for (size_t i = 0; i < got.size(); ++i) check_sum(got[i], want[i], p.t, p.rows);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(embed)

BOOST_AUTO_TEST_CASE(table) {
  for (const DType t : dtypes())
    for (const int64_t rows : row_counts())
      for (const int64_t width : odd_sizes())
        for (const double p : {0.0, 0.3}) {
          BOOST_TEST_CONTEXT(name_of(t) << ", " << rows << " x " << width << ", p " << p) {
            check_forward(Problem(t, rows, width, p));
            check_backward(Problem(t, rows, width, p));
          }
        }
}

BOOST_AUTO_TEST_CASE(dropping_everything_gives_zero) {
  for (const DType t : dtypes()) {
    Problem p(t, 17, 63, 1);
    const Results got = run_layouts([&](Run& run) {
      const Matrix out = run.output(p.rows, p.width, p.t), table = run.input(p.table, p.t);
      const Matrix positions = run.input(p.positions, sum_type(p.t));
      const tx::Dropout drop = run.dropout(p.drop);
      const int32_t* ids = run.array(p.ids);
      run.call([&](auto& b) { b.embed(ids, {}, table, p.scale, positions, drop, out); });
      run.keep(out);
    });
    check_close(got[0], Dense(p.rows, p.width), {0, 0});
  }
}

BOOST_AUTO_TEST_CASE(no_rows) {
  Problem p(DType::f32, 0, 17, 0.1);
  const Results got = run_layouts([&](Run& run) {
    const Matrix dtable = run.inout(p.dtable, DType::f32), dout = run.input(p.dout, DType::f32);
    const tx::Dropout drop = run.dropout(p.drop);
    const int32_t* ids = run.array(p.ids);
    run.call([&](auto& b) {
      b.embed_backward(ids, nullptr, {}, dout, p.scale, drop, dtable, Matrix{});
    });
    run.keep(dtable);
  });
  check_close(got[0], p.dtable, {0, 0});
}

#ifndef TX_EMBED_ON_GPU  // tensor parallelism is CPU-only
// Tokens of another rank (id -1): their rows are zero and add nothing to the gradient of the table.
// The gradient of the positions includes every row.
BOOST_AUTO_TEST_CASE(ids_of_tokens_elsewhere) {
  for (const DType t : dtypes()) {
    Problem p(t, 130, 17, 0.3);
    Dense out = naive(p);
    const Results all = naive_backward(p);
    Dense dtable = p.dtable;
    for (int64_t i = 0; i < p.rows; ++i)
      for (int64_t j = 0; j < p.width; ++j) {
        if (i % 3 == 0)
          out(i, j) = 0;
        else
          dtable(p.ids[size_t(i)], j) += p.scale * p.drop.factor(i, j) * p.dout(i, j);
      }
    for (size_t i = 0; i < p.ids.size(); i += 3) p.ids[i] = -1;
    const Results got = run_layouts([&](Run& run) {
      const Matrix table = run.input(p.table, t), to = run.output(p.rows, p.width, t);
      const Matrix positions = run.input(p.positions, sum_type(t)), dout = run.input(p.dout, t);
      const Matrix sums = run.inout(p.dtable, sum_type(t));
      const Matrix places = run.inout(p.dpositions, sum_type(t));
      const tx::Dropout drop = run.dropout(p.drop);
      const int32_t* ids = run.array(p.ids);
      run.call([&](auto& b) {
        b.embed(ids, {}, table, p.scale, positions, drop, to);
        b.embed_backward(ids, nullptr, {}, dout, p.scale, drop, sums, places);
      });
      for (const Matrix& m : {to, sums, places}) run.keep(m);
    });
    check_close(got[0], out, t);
    check_sum(got[1], dtable, t, p.rows);
    check_sum(got[2], all[1], t, p.rows);
  }
}
#endif

// Blank rows have positions only, and add nothing to the table.
BOOST_AUTO_TEST_CASE(blank_rows) {
  for (const DType t : dtypes()) {
    Problem p(t, 130, 40, 0.1);
    std::vector<int32_t> cut(p.ids.size());
    for (size_t i = 0; i < cut.size(); i += 3) cut[i] = 1;
    Problem without = p;
    const int32_t blank = p.ids[1], none = words - 1;  // `none`: a row of zeros
    for (size_t i = 0; i < cut.size(); ++i)
      if (cut[i] || p.ids[i] == blank) without.ids[i] = none;
    for (int64_t j = 0; j < p.width; ++j) p.table(words - 1, j) = without.table(words - 1, j) = 0;
    const auto run_with = [&](const Problem& problem, bool cuts) {
      return run_layouts([&](Run& run) {
        const Matrix table = run.input(problem.table, t), to = run.output(p.rows, p.width, t);
        const Matrix positions = run.input(p.positions, sum_type(t)), dout = run.input(p.dout, t);
        const Matrix sums = run.inout(p.dtable, sum_type(t));
        const Matrix places = run.inout(p.dpositions, sum_type(t));
        const tx::Dropout drop = run.dropout(p.drop);
        const int32_t* ids = run.array(problem.ids);
        const tx::Blank which{cuts ? run.array(cut) : nullptr, cuts ? blank : -1};
        run.call([&](auto& b) {
          b.embed(ids, which, table, p.scale, positions, drop, to);
          b.embed_backward(ids, nullptr, which, dout, p.scale, drop, sums, places);
        });
        for (const Matrix& m : {to, sums, places}) run.keep(m);
      });
    };
    const Results got = run_with(p, true), want = run_with(without, false);
    check_close(got[0], want[0], {0, 0});
    check_close(got[2], want[2], {0, 0});
    for (int64_t id = 0; id + 1 < words; ++id)
      for (int64_t j = 0; j < p.width; ++j)
        BOOST_REQUIRE(std::abs(got[1](id, j) - want[1](id, j)) <= 1e-6 * std::abs(want[1](id, j)));
  }
}

BOOST_AUTO_TEST_CASE(rows_do_not_depend_on_other_rows) {
  for (const DType t : dtypes()) {
    const Problem p(t, 63, 63, 0.1);
    check_rows_alone(p.rows, [&](Run& run, int64_t first, int64_t count) {
      const Matrix table = run.input(p.table, t), out = run.output(count, p.width, t);
      const Matrix positions = run.input(p.positions, sum_type(t));
      const tx::Dropout drop = run.dropout(p.drop.slice(first, count));
      const int32_t* ids = run.array(part_of(p.ids, first, count));
      run.call([&](auto& b) { b.embed(ids, {}, table, p.scale, positions, drop, out); });
      run.keep(out);
    });
  }
}

// A table of 8-bit weights gives its dequantised rows.
BOOST_AUTO_TEST_CASE(int8_table) {
  const int64_t widths[] = {1, 7, 64};
  for (const int64_t width : widths) {
    const Problem p(DType::f32, 20, width, 0);
    tx::Cpu cpu(2);
    tx::Matrix table = cpu.prepare_rows({words, width,
                                         [&](int64_t first, int64_t count, float* to) {
                                           for (int64_t i = 0; i < count * width; ++i)
                                             to[i] = float(p.table(first + i / width, i % width));
                                         }},
                                        tx::DType::i8);
    std::vector<float> positions(size_t(longest * width)), out(size_t(20 * width));
    for (int64_t i = 0; i < longest * width; ++i)
      positions[size_t(i)] = float(p.positions(i / width, i % width));
    tx::RowKeys keys;
    keys.position = p.drop.position.data();
    cpu.embed(p.ids.data(), {}, table, p.scale,
              tx::matrix(positions.data(), DType::f32, longest, width),
              tx::dropout(0, 0, 0, nullptr, keys), tx::matrix(out.data(), DType::f32, 20, width));
    for (int64_t i = 0; i < 20; ++i) {
      double largest = 0;
      for (int64_t j = 0; j < width; ++j)
        largest = std::max(largest, std::abs(p.table(p.ids[size_t(i)], j)));
      for (int64_t j = 0; j < width; ++j) {
        const double wanted =
            p.scale * p.table(p.ids[size_t(i)], j) + p.positions(p.drop.position[size_t(i)], j);
        const double error = std::abs(out[size_t(i * width + j)] - wanted);
        BOOST_TEST(error <= p.scale * largest / 127 * 0.501 + 1e-6);
      }
    }
    cpu.release_prepared(table);
  }
}

BOOST_AUTO_TEST_SUITE_END()
