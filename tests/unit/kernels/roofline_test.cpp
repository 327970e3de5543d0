// The minimum times ("floor") that tx-train --profile prints next to the measured ones.
#include <boost/test/unit_test.hpp>

#include "kernels/profile.h"

using namespace tx;

namespace {

char memory[1];  // never read; makes the views non-empty

Matrix view(DType t, int64_t rows, int64_t cols) { return matrix(memory, t, rows, cols); }

}  // namespace

BOOST_AUTO_TEST_SUITE(roofline)

BOOST_AUTO_TEST_CASE(bytes_are_counted_by_type_and_not_by_stride) {
  Matrix slice = view(DType::bf16, 10, 8);
  slice.stride = 64;
  BOOST_TEST(bytes_of(slice) == 10 * 8 * 2);
  BOOST_TEST(traffic(slice, view(DType::f32, 3, 5), Matrix()).bytes == 160 + 60);
  BOOST_TEST(traffic(slice, slice).bytes == 320);
}

BOOST_AUTO_TEST_CASE(products) {
  // dw (O,I) += dy (N,O)^T x (N,I) in f32: the old dw is read, too.
  Product p;
  p.a = view(DType::bf16, 100, 24);
  p.b = view(DType::bf16, 100, 16);
  p.c = view(DType::f32, 24, 16);
  p.transpose_a = true;
  BOOST_TEST(product_work(p).flops == 2.0 * 24 * 16 * 100);
  BOOST_TEST(product_work(p).bytes == 100 * 24 * 2 + 100 * 16 * 2 + 24 * 16 * 4);
  p.accumulate = true;
  BOOST_TEST(product_work(p).bytes == 100 * 24 * 2 + 100 * 16 * 2 + 2 * 24 * 16 * 4);
  // y (N,O) = x (N,I) w (O,I)^T + bias
  p = Product();
  p.a = view(DType::bf16, 100, 16);
  p.b = view(DType::bf16, 24, 16);
  p.c = view(DType::bf16, 100, 24);
  p.bias = view(DType::f32, 1, 24);
  p.transpose_b = true;
  BOOST_TEST(product_work(p).flops == 2.0 * 100 * 24 * 16);
  BOOST_TEST(product_work(p).bytes == (100 * 16 + 24 * 16 + 100 * 24) * 2 + 24 * 4);
}

// At 4 TB/s and 800 TFLOP/s the feed-forward product of base is bound by arithmetic, and a copy of
// its output by memory. The bound of both is the sum of their bounds.
BOOST_AUTO_TEST_CASE(each_call_has_its_own_bound) {
  Product p;
  p.a = view(DType::bf16, 25000, 512);
  p.b = view(DType::bf16, 2048, 512);
  p.c = view(DType::bf16, 25000, 2048);
  p.transpose_b = true;
  const Work product = product_work(p), copy = traffic(p.c, p.c);
  const double multiplied = 2.0 * 25000 * 2048 * 512 / 800e12, moved = 25000.0 * 2048 * 4 / 4e12;
  const auto seconds = [](const std::map<Work, int64_t>& calls) {
    return min_seconds(calls, {.copy = 4e12}, 800e12);
  };
  BOOST_TEST(seconds({{product, 1}}) == multiplied, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(seconds({{copy, 1}}) == moved, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(seconds({{product, 12}, {copy, 3}}) == 12 * multiplied + 3 * moved,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(seconds({}) == 0);
}

// The bound of a call uses the rate of the cache if its bytes fit, and the memory's otherwise.
BOOST_AUTO_TEST_CASE(caches) {
  const Rates rates{.copy = 10, .cached = 100, .cache_bytes = 1000};
  BOOST_TEST(min_seconds({{Work{1000, 0}, 2}}, rates, 1) == 20);
  BOOST_TEST(min_seconds({{Work{1010, 0}, 2}}, rates, 1) == 202);
}

BOOST_AUTO_TEST_CASE(groups_are_lines_in_the_order_of_their_times) {
  GroupTimes times;
  times.count("norm", {100, 0});
  times.add("norm", 0.002);
  for (int i = 0; i < 3; ++i) times.count("products, fp32", {0, 50});
  times.add("products, fp32", 0.006);
  BOOST_TEST(times.seconds() == 0.008, boost::test_tools::tolerance(1e-12));
  const std::string text = times.lines({.copy = 1e5, .bf16 = 1, .f32 = 5e4});
  BOOST_TEST(
      text ==
      "products, fp32                   3 calls        6.000 ms, floor        3.000 ms,  50 %\n"
      "norm                             1 calls        2.000 ms, floor        1.000 ms,  50 %\n");
  BOOST_TEST(times.lines({.copy = 1e5, .bf16 = 1, .f32 = 5e4}, 0.0105) ==
             text +
                 "other                                           2.500 ms\n"
                 "total                                          10.500 ms\n");
}

BOOST_AUTO_TEST_SUITE_END()
