// The vectorised dropout bits equal those of the plain loop.
#include "kernels/cpu/random.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/philox.h"

using namespace tx;

BOOST_AUTO_TEST_SUITE(philox_rows)

BOOST_AUTO_TEST_CASE(bits_are_those_of_single_blocks) {
  for (const uint32_t start : {0u, 2u, 300u})
    for (const int64_t blocks : {1, 3, 8, 9, 16, 17, 31, 33, 70}) {
      const PhiloxRow row{7, 0x30001, 12, 0xfffffff0u, 5, start};
      std::vector<uint16_t> bits(size_t(blocks + 1) * 8, 0xabcd), plain = bits;
      philox_row(row, blocks, bits.data());
      philox_row_plain(row, blocks, plain.data());
      BOOST_TEST(bits == plain, boost::test_tools::per_element());
      philox_row_plain(row, blocks, plain.data() + 1);  // an unaligned destination
      BOOST_TEST(std::equal(plain.begin() + 1, plain.begin() + 1 + blocks * 8, bits.begin()));
      for (int64_t b = 0; b < blocks; ++b) {
        const Philox::Block block =
            Philox::block(row.seed, row.site, row.c0, row.c1, row.c2, start + uint32_t(b));
        for (int i = 0; i < 8; ++i)
          BOOST_TEST(bits[size_t(b * 8 + i)] == uint16_t(block.word[i / 2] >> (i % 2 * 16)));
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
