#include <boost/test/unit_test.hpp>

#include "lib/tensor/tensor.h"

namespace tt = boost::test_tools;

namespace {

struct Fixture {
  tx::Backend backend = tx::make_backend(tx::Device::cpu, 1);
  tx::Arena arena{backend, 1 << 16};
  tx::Context context{backend, arena, tx::DType::f64};
};

// y = factor * x for one number; records the order of backward calls.
tx::Tensor scaled(tx::Context& context, tx::Tensor x, double factor, std::vector<double>* order) {
  tx::Tensor y = context.make(1, 1);
  y.value().row<double>(0)[0] = factor * x.value().row<double>(0)[0];
  context.on_backward([&context, x, y, factor, order]() mutable {
    order->push_back(factor);
    bool add = false;
    const double dy = std::as_const(context).gradient(y).row<double>(0)[0];
    double& dx = context.gradient(x, add).row<double>(0)[0];
    dx = factor * dy + (add ? dx : 0);
  });
  return y;
}

void seed(tx::Context& context, tx::Tensor y, double dy) {
  bool add = true;
  context.gradient(y, add).row<double>(0)[0] = dy;
  BOOST_TEST(!add);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tensor_tape, Fixture)

BOOST_AUTO_TEST_CASE(the_first_contribution_assigns_and_later_ones_add) {
  tx::Tensor t = context.make(3, 5);
  BOOST_TEST(!t.has_gradient());
  bool add = true;
  const tx::Matrix first = context.gradient(t, add);
  BOOST_TEST(!add);
  BOOST_TEST(t.has_gradient());
  BOOST_TEST((first.rows == 3 && first.cols == 5 && first.dtype == tx::DType::f64));
  BOOST_TEST(first.data != t.value().data);
  BOOST_TEST(context.gradient(t, add).data == first.data);
  BOOST_TEST(add);
}

BOOST_AUTO_TEST_CASE(the_same_for_parameters) {
  int written = 0;
  bool add = true;
  double gradient = 0;
  tx::Parameter p;
  p.gradient = tx::matrix(&gradient, tx::DType::f64, 1, 1);
  p.written = &written;
  tx::Context::gradient(p, add);
  BOOST_TEST(!add);
  BOOST_TEST(tx::Context::gradient(p, add).data == &gradient);
  BOOST_TEST(add);
  BOOST_TEST(written == 2);
}

BOOST_AUTO_TEST_CASE(each_closure_is_reported_after_it_ran) {
  context.recording = true;
  std::vector<int> order;
  for (const int i : {1, 2, 3}) context.on_backward([&order, i] { order.push_back(i); });
  context.after_closure = [&] { order.push_back(-order.back()); };
  context.backward();
  BOOST_TEST(order == (std::vector<int>{3, -3, 2, -2, 1, -1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(backward_runs_against_the_order_of_creation) {
  context.recording = true;
  std::vector<double> order;
  tx::Tensor x = context.make(1, 1);
  x.value().row<double>(0)[0] = 1;
  // z = 2 x * 3 + 2 x * 5: the gradient of y = 2 x comes from two readers.
  tx::Tensor y = scaled(context, x, 2, &order);
  tx::Tensor a = scaled(context, y, 3, &order), b = scaled(context, y, 5, &order);
  BOOST_TEST(b.value().row<double>(0)[0] == 10);
  BOOST_TEST(context.closures() == 3u);
  seed(context, a, 1);
  seed(context, b, 100);
  context.backward();
  BOOST_TEST(order == (std::vector<double>{5, 3, 2}), boost::test_tools::per_element());
  BOOST_TEST(std::as_const(context).gradient(x).row<double>(0)[0] == 2 * (3 + 500));
  BOOST_TEST(context.closures() == 0u);
}

BOOST_AUTO_TEST_CASE(memory_goes_back_while_backward_runs) {
  context.recording = true;
  std::vector<double> order;
  {
    tx::Tensor x = context.make(1, 1);
    for (int i = 0; i < 8; ++i) x = scaled(context, x, 2, &order);
    BOOST_TEST(arena.in_use() == 9 * 64u);  // the tape holds earlier values of x
    seed(context, x, 1);
  }
  // Closures free memory as they run: at most two values and two gradients are live at the end.
  context.backward();
  BOOST_TEST(arena.in_use() == 0u);
  BOOST_TEST(arena.peak() == 11 * 64u);  // 9 values, gradients of y and x
}

BOOST_AUTO_TEST_CASE(without_recording_nothing_is_kept) {
  std::vector<double> order;
  tx::Tensor x = context.make(1, 1);
  for (int i = 0; i < 8; ++i) x = scaled(context, x, 2, &order);
  BOOST_TEST(context.closures() == 0u);
  BOOST_TEST(arena.in_use() == 64u);
  BOOST_TEST(arena.peak() == 2 * 64u);
}

BOOST_AUTO_TEST_CASE(a_tape_that_is_dropped_gives_its_memory_back) {
  {
    tx::Context other(backend, arena, tx::DType::f32);
    other.recording = true;
    tx::Tensor x = other.make(1, 1);
    other.on_backward([x] { BOOST_ERROR("must not run"); });
  }
  BOOST_TEST(arena.in_use() == 0u);
}

// Two segments of four: gradient and order as without segments, and the tape holds two inputs.
BOOST_AUTO_TEST_CASE(a_segment_is_run_again_for_its_backward) {
  context.recording = context.recompute = true;
  std::vector<double> order;
  int runs = 0;
  tx::Tensor first = context.make(1, 1);
  first.value().row<double>(0)[0] = 5;
  tx::Tensor x = first;
  for (double base : {2.0, 3.0})
    x = context.segment({x}, [&, base](const std::vector<tx::Tensor>& in) {
      ++runs;
      tx::Tensor y = in[0];
      for (int i = 0; i < 4; ++i) y = scaled(context, y, base + 10 * i, &order);
      return std::vector<tx::Tensor>{y};
    })[0];
  BOOST_TEST(context.closures() == 2u);
  BOOST_TEST(arena.in_use() == 3 * 64u);  // the input, and the result of each segment
  BOOST_TEST(x.value().row<double>(0)[0] == 5 * 2. * 12 * 22 * 32 * 3 * 13 * 23 * 33);
  seed(context, x, 1);
  x = tx::Tensor();
  context.backward();
  BOOST_TEST(runs == 4);
  BOOST_TEST(order == (std::vector<double>{33, 23, 13, 3, 32, 22, 12, 2}), tt::per_element());
  BOOST_TEST(std::as_const(context).gradient(first).row<double>(0)[0] ==
             2. * 12 * 22 * 32 * 3 * 13 * 23 * 33);
  first = tx::Tensor();
  BOOST_TEST(arena.in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(a_gradient_in_place_is_the_value) {
  tx::Tensor t = context.make(2, 2);
  context.gradient_in_place(t);
  BOOST_TEST(std::as_const(context).gradient(t).data == t.value().data);
  bool add = false;
  context.gradient(t, add);
  BOOST_TEST(add);
  BOOST_TEST(arena.in_use() == 64u);
}

BOOST_AUTO_TEST_CASE(a_gradient_that_nobody_wrote_is_a_bug) {
  const tx::Tensor t = context.make(2, 2);
  BOOST_CHECK_THROW(std::as_const(context).gradient(t), tx::Bug);
}

BOOST_AUTO_TEST_CASE(a_counting_arena_runs_no_kernel) {
  tx::Arena counting;
  tx::Context dry(backend, counting, tx::DType::f32);
  bool ran = false;
  dry.run([&](auto&) { ran = true; });
  BOOST_TEST(!ran);
  context.run([&](auto&) { ran = true; });
  BOOST_TEST(ran);
}

BOOST_AUTO_TEST_CASE(statistics_are_full_precision) {
  const auto statistics = [&](tx::DType dtype) {
    return tx::Context(backend, arena, dtype).statistics_dtype();
  };
  BOOST_TEST((statistics(tx::DType::bf16) == tx::DType::f32));
  BOOST_TEST((statistics(tx::DType::f32) == tx::DType::f32));
  BOOST_TEST((statistics(tx::DType::f64) == tx::DType::f64));
  BOOST_TEST((context.make(1, 1, tx::DType::f32).dtype() == tx::DType::f32));
}

BOOST_AUTO_TEST_SUITE_END()
