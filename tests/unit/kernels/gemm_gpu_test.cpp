// Products for training on the GPU against naive double loops: those that cuBLASLt supports and
// those that need our own kernels.
#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "tests/unit/kernels/gemm_case.h"

#if TX_HAVE_CUDA
#include "tests/unit/kernels/gemm_gpu.h"

using tx::Cuda;
using tx::DType;
using tx::Product;
using tx_test::Block;
using tx_test::Case;
using tx_test::Image;
using tx_test::Operands;

namespace {

// The operands of a case on the GPU.
struct Device {
  Image a, b, bias, c;
  Product p;
  Device(Cuda& cuda, Operands& o)
      : a(cuda, o.a), b(cuda, o.b), bias(cuda, o.bias), c(cuda, o.c), p(o.p) {
    p.a = a.view(), p.b = b.view(), p.c = c.view();
    if (!p.bias.empty()) p.bias = bias.view();
  }
};

// With an output in bf16, cuBLASLt only supports a bias in bf16, and on an H200 it rounds a product
// before it adds the product to c. Our own kernels round neither.
double rounding(const Case& t, const Product& p) {
  const bool library = (p.a.stride | p.b.stride | p.c.stride) % 8 == 0;  // BlasLt::takes()
  return t.out == DType::bf16 && library ? 0x1.01p-8 : 0;
}

void check(Cuda& cuda, const Case& t) {
  BOOST_TEST_CONTEXT(t) {
    Operands o(t);
    Device d(cuda, o);
    cuda.plan_product(d.p);
    const size_t scratch = cuda.scratch_bytes();
    const auto product = [&] {
      d.c.upload();
      cuda.product(d.p);
      d.c.download();
    };
    tx_test::check_product(t, o, product, rounding(t, d.p));
    BOOST_TEST((d.a.unchanged() && d.b.unchanged() && d.bias.unchanged()));
    BOOST_TEST(cuda.scratch_bytes() == scratch);
  }
}

// Every combination of transposes and epilogues, with `gap` elements after every row.
void check_all(Cuda& cuda, DType in, DType out, int64_t m, int64_t n, int64_t k, int64_t gap) {
  for (int transposes = 0; transposes < 4; transposes++) {
    for (int end = 0; end < 5; end++) {
      check(cuda, {in, out, m, n, k, bool(transposes & 1), bool(transposes & 2), end == 4,
                   end == 1 || end == 3, end == 2 || end == 3, gap, 1});
    }
  }
}

// Odd sizes and gaps need our own kernels; multiples of 8 without gaps run on cuBLASLt.
void check_shapes(DType in, DType out) {
  Cuda cuda;
  const int64_t odd[][3] = {{1, 1, 1},  {2, 3, 1},    {3, 5, 7},      {1, 70, 33},
                            {70, 1, 9}, {17, 33, 65}, {100, 130, 129}};
  for (const auto& s : odd) check_all(cuda, in, out, s[0], s[1], s[2], s[0] % 3);
  const int64_t even[][3] = {{8, 8, 8}, {64, 48, 32}, {16, 136, 200}, {128, 96, 256}};
  for (const auto& s : even) {
    check_all(cuda, in, out, s[0], s[1], s[2], 0);
    check_all(cuda, in, out, s[0], s[1], s[2], 8);
  }
  check_all(cuda, in, out, 16, 136, 200, 3);
}

bool says(const std::exception& e, const std::string& words) {
  return std::string(e.what()).find(words) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gemm_gpu)

BOOST_AUTO_TEST_CASE(f32) { check_shapes(DType::f32, DType::f32); }
BOOST_AUTO_TEST_CASE(bf16) { check_shapes(DType::bf16, DType::bf16); }
BOOST_AUTO_TEST_CASE(bf16_to_f32) { check_shapes(DType::bf16, DType::f32); }

// The shapes of training at d 128, with weights that are column slices of a wider matrix.
BOOST_AUTO_TEST_CASE(training_shapes) {
  Cuda cuda;
  const int64_t rows = 192, outputs[] = {384, 128, 1000};
  for (const DType t : {DType::f32, DType::bf16}) {
    for (const int64_t o : outputs) {
      for (const int64_t gap : {0, 128}) {
        check(cuda, {t, t, rows, o, 128, false, true, false, true, false, gap, 1});
        check(cuda, {t, t, rows, 128, o, false, false, false, false, false, gap, 1});
        check(cuda, {t, DType::f32, o, 128, rows, true, false, true, false, false, gap, 1});
        check(cuda, {t, DType::f32, o, 128, rows, true, false, false, false, false, gap, 1});
      }
    }
  }
}

// A bias that the caller has rounded to bf16 is not rounded again for each product: the same bits,
// and no scratch memory. It is ignored if it is not aligned.
BOOST_AUTO_TEST_CASE(bias_that_is_rounded_before) {
  const Case t{DType::bf16, DType::bf16, 40, 24, 64, false, true, false, true, true, 0, 1};
  std::vector<char> bits;
  std::vector<size_t> memory;
  for (const int64_t shift : {-1, 0, 1}) {
    Cuda cuda;
    Operands o(t);
    Block rounded(DType::bf16, 1, 24, 0, std::max<int64_t>(shift, 0));
    for (int64_t j = 0; j < 24; j++)
      tx_test::set(rounded.view(), 0, j, tx_test::get(o.bias.view(), 0, j));
    Device d(cuda, o);
    Image copy(cuda, rounded);
    if (shift >= 0) d.p.rounded_bias = copy.view();
    cuda.plan_product(d.p);
    const size_t held = cuda.scratch_bytes();
    o.dirty(0);
    d.c.upload();
    cuda.product(d.p);
    d.c.download();
    if (bits.empty()) bits = o.c.bytes();
    BOOST_TEST((o.c.bytes() == bits));
    BOOST_TEST(cuda.scratch_bytes() == held);
    memory.push_back(held);
  }
  BOOST_TEST(memory[1] < memory[0]);
  BOOST_TEST(memory[2] == memory[0]);
}

// Recorded in a graph and replayed: the same bits as the first, direct call.
BOOST_AUTO_TEST_CASE(in_a_graph) {
  for (const DType t : {DType::f32, DType::bf16}) {
    for (const int64_t gap : {0, 3}) {
      Cuda cuda;
      Operands o({t, t, 40, 24, 64, false, true, false, true, true, gap, 1});
      Device d(cuda, o);
      std::vector<char> bits[3];
      for (std::vector<char>& now : bits) {
        o.dirty(0);
        d.c.upload();
        cuda.replay(7, [&] { cuda.product(d.p); });
        d.c.download();
        now = o.c.bytes();
      }
      BOOST_TEST((bits[0] == bits[1] && bits[0] == bits[2]));
    }
  }
}

// A second one waits for the first, and join() for both: each copy has the result of the product.
BOOST_AUTO_TEST_CASE(aside_until_joined) {
  Cuda cuda;
  const Case t{DType::bf16, DType::f32, 40, 24, 64, true, false, false, false, false, 0, 1};
  Operands first(t), second(t);
  Device one(cuda, first), two(cuda, second);
  const size_t bytes = first.c.bytes().size();
  const std::unique_ptr<void, std::function<void(void*)>> copies(
      cuda.allocate(2 * bytes), [&](void* data) { cuda.release(data); });
  char* copied = static_cast<char*>(copies.get());
  one.c.upload();
  cuda.product(one.p);
  one.c.download();
  const std::vector<char> want = first.c.bytes();
  for (int time = 0; time < 3; ++time) {
    first.dirty(0), second.dirty(0);
    one.c.upload(), two.c.upload();
    cuda.replay(7, [&] {
      cuda.product_aside(one.p);
      cuda.product_aside(two.p);
      cuda.copy(copied, one.p.c.data, bytes);
      cuda.join();
      cuda.copy(copied + bytes, two.p.c.data, bytes);
    });
    std::vector<char> got(2 * bytes);
    cuda.download(got.data(), copied, got.size());
    BOOST_TEST((std::equal(want.begin(), want.end(), got.begin())));
    BOOST_TEST((std::equal(want.begin(), want.end(), got.begin() + long(bytes))));
  }
}

BOOST_AUTO_TEST_CASE(no_rows_is_no_work) {
  Cuda cuda;
  Block a(DType::f32, 0, 8), b(DType::f32, 4, 8), c(DType::f32, 0, 4);
  Image da(cuda, a), db(cuda, b), dc(cuda, c);
  Product p;
  p.a = da.view(), p.b = db.view(), p.c = dc.view(), p.transpose_b = true;
  cuda.plan_product(p);
  cuda.product(p);
  BOOST_TEST(dc.unchanged());
}

BOOST_AUTO_TEST_CASE(shapes_that_do_not_fit_are_bugs) {
  Cuda cuda;
  Operands o({DType::f32, DType::f32, 4, 5, 6, false, true, false, false, false, 0, 1});
  Product p = o.p;
  p.transpose_b = false;
  BOOST_CHECK_THROW(cuda.product(p), tx::Bug);
  p = o.p;
  p.c.cols = 4;
  BOOST_CHECK_THROW(cuda.product(p), tx::Bug);
  p = o.p;
  p.accumulate = true, p.bias = o.bias.view();
  BOOST_CHECK_THROW(cuda.product(p), tx::Bug);
  p = o.p;
  p.a.dtype = p.b.dtype = p.c.dtype = DType::f64;
  BOOST_CHECK_THROW(cuda.product(p), tx::Bug);
}

// Algorithms chosen by timing are exported as text, with which another Cuda gives the same bits.
BOOST_AUTO_TEST_CASE(choices_are_kept) {
  const Case cases[] = {
      {DType::bf16, DType::bf16, 64, 128, 256, false, true, false, true, true, 0, 1},
      {DType::bf16, DType::f32, 64, 128, 256, true, false, true, false, false, 0, 1},
      {DType::f32, DType::f32, 72, 40, 96, false, false, false, false, false, 0, 1},
      // For a long sum with few outputs, split-K is tried too.
      {DType::bf16, DType::f32, 16, 24, 4096, true, false, true, false, false, 0, 1}};
  for (const Case& t : cases) {
    BOOST_TEST_CONTEXT(t) {
      Cuda first, second;
      BOOST_TEST(first.tuning() == "");
      first.set_tuning("measure");
      check(first, t);
      const std::string choice = first.tuning();
      second.set_tuning(choice);
      BOOST_TEST(second.tuning() == choice);
      check(second, t);
      BOOST_TEST(second.tuning() == choice);
      std::vector<char> bits[2];
      for (Cuda* cuda : {&first, &second}) {
        Operands o(t);
        o.dirty(0);
        Device d(*cuda, o);
        cuda->product(d.p);
        d.c.download();
        bits[cuda == &second] = o.c.bytes();
      }
      BOOST_TEST((bits[0] == bits[1]));
    }
  }
}

BOOST_AUTO_TEST_CASE(choices_of_others_are_refused) {
  Cuda cuda;
  const auto refuses = [&](const std::string& text, const std::string& words) {
    BOOST_CHECK_EXCEPTION(cuda.set_tuning(text), tx::Error,
                          [&](const tx::Error& e) { return says(e, words); });
  };
  refuses("nonsense", "not a list");
  refuses("cublaslt 1\n", "cuBLASLt 1,");
  cuda.set_tuning("measure");
  check(cuda, {DType::f32, DType::f32, 8, 8, 8, false, true, false, false, false, 0, 1});
  const std::string choice = cuda.tuning();
  refuses(choice + "8 8 8\n", "8 8 8");
  // An unknown algorithm for the same shape.
  std::string strange = choice.substr(0, choice.rfind('\n'));
  strange = strange.substr(0, strange.find('\n') + 1) + "8 8 8 8 8 8 8 1 1 1 1 1 1 1 1\n";
  cuda.set_tuning(strange);
  Operands o({DType::f32, DType::f32, 8, 8, 8, false, true, false, false, false, 0, 1});
  Device d(cuda, o);
  BOOST_CHECK_THROW(cuda.product(d.p), tx::Error);
}

BOOST_AUTO_TEST_CASE(a_library_that_is_missing_is_named) {
  const char* before = std::getenv("TX_CUBLASLT");
  const std::string kept = before ? before : "";
  setenv("TX_CUBLASLT", "/nowhere/libcublasLt.so", 1);
  {
    Cuda cuda;
    Operands o({DType::f32, DType::f32, 8, 8, 8, false, true, false, false, false, 0, 1});
    Device d(cuda, o);
    BOOST_CHECK_EXCEPTION(cuda.product(d.p), tx::UsageError, [](const tx::UsageError& e) {
      return says(e, "/nowhere/libcublasLt.so") && says(e, "TX_CUBLASLT");
    });
  }
  if (before) {
    setenv("TX_CUBLASLT", kept.c_str(), 1);
  } else {
    unsetenv("TX_CUBLASLT");
  }
}

BOOST_AUTO_TEST_SUITE_END()
#endif
