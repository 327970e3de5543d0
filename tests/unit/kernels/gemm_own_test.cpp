// Our own loops of every instruction set on every dtype, as training products: packing of both
// operands, several steps of k, and bits that do not depend on the number of threads.
#include "kernels/cpu/gemm.h"
#include "tests/unit/kernels/gemm_case.h"

using tx::DType;
using tx::gemm::Isa;
using tx_test::Case;
using tx_test::Operands;

namespace {

void check(Case t, Isa isa) {
  BOOST_TEST_CONTEXT(t << " isa " << int(isa)) {
    tx::gemm::Scratch scratch;
    Operands o(t);
    const size_t planned = tx::gemm::own_scratch_bytes(o.p, isa, t.threads);
    tx_test::check_product(t, o, [&] { tx::gemm::own_product(o.p, isa, t.threads, scratch); });
    BOOST_TEST(scratch.bytes == planned);
    const std::vector<char> bits = o.c.bytes();
    for (const int threads : {1, 2, 4}) {
      o.dirty(7);
      tx::gemm::own_product(o.p, isa, threads, scratch);
      BOOST_TEST((o.c.bytes() == bits));
    }
  }
}

void check_all(DType in, DType out) {
  const int64_t shapes[][3] = {{1, 1, 1},    {5, 70, 3},     {17, 64, 65},
                               {98, 33, 40}, {13, 67, 1101}, {210, 130, 512}};
  for (int isa = 0; isa <= int(tx::gemm::best_isa()); isa++) {
    int turn = isa;
    for (const auto& s : shapes) {
      for (int transposes = 0; transposes < 4; transposes++, turn++) {
        const int end = turn % 5;
        check({in, out, s[0], s[1], s[2], bool(transposes & 1), bool(transposes & 2), end == 4,
               end == 1 || end == 3, end == 2 || end == 3, turn % 3 * 5, 1 + turn % 3},
              Isa(isa));
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gemm_own)

BOOST_AUTO_TEST_CASE(f64) { check_all(DType::f64, DType::f64); }
BOOST_AUTO_TEST_CASE(f32) { check_all(DType::f32, DType::f32); }
BOOST_AUTO_TEST_CASE(bf16) { check_all(DType::bf16, DType::bf16); }
BOOST_AUTO_TEST_CASE(bf16_to_f32) { check_all(DType::bf16, DType::f32); }

BOOST_AUTO_TEST_CASE(weights_that_cannot_be_read_are_an_error) {
  const tx::WeightRows rows{100, 8,
                            [](int64_t, int64_t, float*) { throw tx::DataError("no rows"); }};
  for (const DType t : {DType::f32, DType::bf16, DType::i8})
    for (const int threads : {1, 3})
      BOOST_CHECK_THROW(tx::gemm::pack(rows, t, Isa::plain, threads), tx::DataError);
}

BOOST_AUTO_TEST_SUITE_END()
