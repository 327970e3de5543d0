// How a block is divided over ranks, and the moving of its shards.
#include "lib/train/ranks/shards.h"

#include <boost/test/unit_test.hpp>

#include "tests/thread_ranks.h"
#include "tests/unit/train/tiny_training.h"

using namespace tx;
using namespace tx_test;

BOOST_AUTO_TEST_SUITE(shards)

BOOST_AUTO_TEST_CASE(the_shards_of_all_ranks_are_the_block) {
  for (const int64_t elements : {int64_t(0), int64_t(64), norm_block, 5 * norm_block - 64,
                                 64 * norm_block, 99 * norm_block + 128})
    for (int ranks = 1; ranks <= 9; ++ranks) {
      const Division division(elements, ranks, 4 * norm_block);
      std::vector<int64_t> held(size_t(ranks), 0);
      int64_t end = 0;
      for (int round = 0; round < division.rounds(); ++round) {
        BOOST_TEST(division.round(round).first == end);
        for (int r = 0; r < ranks; ++r) {
          const ElementRange shard = division.shard(round, r);
          BOOST_TEST(shard.first == end);
          if (shard.count) BOOST_TEST(shard.first % norm_block == 0);
          BOOST_TEST(shard.count <= division.longest(round));
          if (shard.count) BOOST_TEST(division.own_first(round) == held[size_t(r)]);
          held[size_t(r)] += shard.count;
          end = shard.end();
        }
        BOOST_TEST(division.round(round).end() == end);
      }
      BOOST_TEST(end == elements);
      for (int r = 0; r < ranks; ++r) {
        BOOST_TEST(division.held(r) == held[size_t(r)]);
        BOOST_TEST(std::abs(held[size_t(r)] - elements / ranks) <= norm_block);
      }
    }
}

// Three rounds, the last one incomplete and uneven; each value is its index.
BOOST_AUTO_TEST_CASE(what_is_moved_arrives_in_its_place) {
  constexpr int count = 3;
  const Division division(8 * norm_block - 192, count, norm_block);
  std::vector<float> all(size_t(8 * norm_block - 192));
  for (size_t i = 0; i < all.size(); ++i) all[i] = float(i);
  std::array<bool, count> gathered{}, spread{}, squares_same{};
  bool collected = false;
  on_ranks(count, [&](Communicator& others) {
    const int rank = others.rank();
    Backend backend = make_backend(Device::cpu, 1);
    const auto mover = make_mover(backend, others);
    Shards shards(backend, *mover, division, {rank, count});
    const auto block_of = [](std::vector<float>& x) {
      return matrix(x.data(), DType::f32, 1, int64_t(x.size()));
    };
    std::vector<float> block(all.size(), -1), own, back;
    for (int round = 0; round < division.rounds(); ++round) {
      const ElementRange mine = division.shard(round, rank);
      own.insert(own.end(), all.begin() + mine.first, all.begin() + mine.end());
      std::copy(all.begin() + mine.first, all.begin() + mine.end(), block.begin() + mine.first);
    }
    const auto blocks = size_t(norm_blocks(int64_t(all.size())));
    std::vector<double> found(blocks), wanted(blocks);
    shards.gather_squares(block_of(block), matrix(found.data(), DType::f64, 1, int64_t(blocks)));
    backend->square_sums(block_of(all), matrix(wanted.data(), DType::f64, 1, int64_t(blocks)));
    squares_same[size_t(rank)] = found == wanted;
    shards.gather(block_of(block));
    gathered[size_t(rank)] = block == all;
    std::fill(block.begin(), block.end(), -1.0f);
    shards.collect(block_of(own), rank == 0 ? block_of(block) : Matrix{});
    if (rank == 0) collected = block == all;
    back.resize(own.size());
    shards.spread(rank == 0 ? block_of(block) : Matrix{}, block_of(back));
    spread[size_t(rank)] = back == own;
  });
  BOOST_TEST(collected);
  for (size_t r = 0; r < count; ++r) {
    BOOST_TEST(gathered[r]);
    BOOST_TEST(spread[r]);
    BOOST_TEST(squares_same[r]);
  }
}

BOOST_AUTO_TEST_SUITE_END()
