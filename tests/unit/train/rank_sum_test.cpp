// Which parts of a sum a rank adds: subtrees of the one tree, and together the whole.
#include <boost/test/unit_test.hpp>

#include "lib/train/step/tree_sum.h"

using namespace tx;

namespace {

// Whether the tree of `terms` has such a node.
bool is_node(TermRange node, TermRange of) {
  if (node.lo == of.lo && node.hi == of.hi) return true;
  if (of.size() < 2) return false;
  const int middle = of.lo + left_part(of.size());
  return is_node(node, {of.lo, middle}) || is_node(node, {middle, of.hi});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rank_sum)

BOOST_AUTO_TEST_CASE(the_parts_of_all_ranks_are_the_whole) {
  for (int terms = 1; terms <= 33; ++terms)
    for (int ranks = 1; ranks <= 9; ++ranks) {
      int end = 0;
      for (int r = 0; r < ranks; ++r) {
        const TermRange share = share_of(terms, r, ranks);
        BOOST_TEST(share.lo == end);
        if (terms >= ranks) BOOST_TEST(share.size() > 0);
        for (const TermRange& part : subtrees(terms, share)) {
          BOOST_TEST((part.lo == end && is_node(part, {0, terms})));
          end = part.hi;
        }
        BOOST_TEST(end == share.hi);
      }
      BOOST_TEST(end == terms);
    }
}

BOOST_AUTO_TEST_CASE(the_parts_are_the_largest) {
  BOOST_TEST(subtrees(8, {0, 8}).size() == 1u);
  BOOST_TEST(subtrees(8, {0, 4}).size() == 1u);
  BOOST_TEST(subtrees(8, {2, 4}).size() == 1u);
  BOOST_TEST(subtrees(8, {1, 7}).size() == 4u);  // 1, 2-3, 4-5, 6
  BOOST_TEST(subtrees(7, {4, 7}).size() == 1u);
  BOOST_TEST(subtrees(7, {3, 3}).empty());
}

BOOST_AUTO_TEST_CASE(blocks_of_a_rank) {
  BOOST_TEST(RankSum::blocks(8, 2) == 2);  // a part of four
  BOOST_TEST(RankSum::blocks(8, 8) == 1);  // of rank 0, which saves
  BOOST_TEST(RankSum::blocks(5, 3) == 1);  // 1, 2 and 3, 4: of no tree the half
}

BOOST_AUTO_TEST_SUITE_END()
