#include "lib/tensor/arena.h"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <map>
#include <random>

#include "lib/base/error.h"
#include "lib/base/philox.h"
#include "lib/tensor/device_array.h"

namespace {

constexpr size_t kilobyte = 1024;

void* at(void* base, size_t offset) { return static_cast<char*>(base) + offset; }

}  // namespace

BOOST_AUTO_TEST_SUITE(tensor_arena)

BOOST_AUTO_TEST_CASE(blocks_are_aligned_and_never_empty) {
  tx::Backend backend = tx::make_backend(tx::Device::cpu, 1);
  tx::Arena arena(backend, kilobyte);
  void* first = arena.take(0);
  BOOST_TEST(reinterpret_cast<uintptr_t>(first) % 64 == 0u);
  BOOST_TEST(arena.take(1) == at(first, 64));
  BOOST_TEST(arena.take(65) == at(first, 128));
  BOOST_TEST(arena.in_use() == 256u);
  BOOST_TEST(arena.peak() == 256u);
}

BOOST_AUTO_TEST_CASE(neighbours_join_whatever_the_order_they_are_given_back) {
  tx::Backend backend = tx::make_backend(tx::Device::cpu, 1);
  tx::Arena arena(backend, 3 * kilobyte);
  for (const auto& order :
       {std::array{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
    void* block[] = {arena.take(kilobyte), arena.take(kilobyte), arena.take(kilobyte)};
    for (int i : order) arena.give(block[i], kilobyte);
    BOOST_TEST(arena.in_use() == 0u);
    void* whole = arena.take(3 * kilobyte);  // only possible if they were merged
    BOOST_TEST(whole == block[0]);
    arena.give(whole, 3 * kilobyte);
  }
  BOOST_TEST(arena.peak() == 3 * kilobyte);
}

BOOST_AUTO_TEST_CASE(the_lowest_hole_that_fits_is_taken) {
  tx::Arena arena;
  void* a = arena.take(2 * kilobyte);
  void* b = arena.take(kilobyte);
  void* c = arena.take(kilobyte);
  void* d = arena.take(kilobyte);
  arena.give(a, 2 * kilobyte);
  arena.give(c, kilobyte);
  BOOST_TEST(arena.take(kilobyte) == a);
  BOOST_TEST(arena.take(kilobyte) == at(a, kilobyte));
  BOOST_TEST(arena.take(kilobyte) == c);
  BOOST_TEST(arena.take(64) == at(d, kilobyte));
  BOOST_TEST(at(a, 2 * kilobyte) == b);
}

// The peak is the highest address, including holes below it: the size that a real arena needs.
BOOST_AUTO_TEST_CASE(the_peak_counts_holes) {
  tx::Arena arena;
  void* a = arena.take(kilobyte);
  arena.take(kilobyte);
  arena.give(a, kilobyte);
  arena.take(2 * kilobyte);  // does not fit where a was
  BOOST_TEST(arena.in_use() == 3 * kilobyte);
  BOOST_TEST(arena.peak() == 4 * kilobyte);
}

BOOST_AUTO_TEST_CASE(a_counting_arena_gives_the_addresses_of_a_real_one) {
  tx::Backend backend = tx::make_backend(tx::Device::cpu, 1);
  tx::Arena counting, real(backend, 64 * kilobyte);
  BOOST_TEST(counting.counting());
  BOOST_TEST(!real.counting());
  std::mt19937 random(1);
  struct Held {
    void *counted, *given;
    size_t bytes;
  };
  std::vector<Held> held;
  void *counted = counting.take(1), *given = real.take(1);
  for (int i = 0; i < 2000; ++i) {
    if (held.size() > 20 || (!held.empty() && random() % 2)) {
      std::swap(held[random() % held.size()], held.back());
      counting.give(held.back().counted, held.back().bytes);
      real.give(held.back().given, held.back().bytes);
      held.pop_back();
    } else {
      const size_t bytes = random() % 1500;
      held.push_back({counting.take(bytes), real.take(bytes), bytes});
      const auto offset = [&](void* data, void* base) {
        return static_cast<char*>(data) - static_cast<char*>(base);
      };
      BOOST_REQUIRE(offset(held.back().counted, counted) == offset(held.back().given, given));
    }
    BOOST_REQUIRE(counting.in_use() == real.in_use());
  }
  BOOST_TEST(counting.peak() == real.peak());
}

BOOST_AUTO_TEST_CASE(blocks_never_overlap) {
  tx::Backend backend = tx::make_backend(tx::Device::cpu, 1);
  tx::Arena arena(backend, 128 * kilobyte);
  std::mt19937 random(2);
  std::map<unsigned char*, size_t> held;
  unsigned char* base = static_cast<unsigned char*>(arena.take(1));
  for (int i = 0; i < 3000; ++i) {
    if (held.size() > 30 || (!held.empty() && random() % 3 == 0)) {
      const auto block = std::next(held.begin(), random() % held.size());
      for (size_t j = 0; j < block->second; ++j)
        BOOST_REQUIRE(block->first[j] == (block->first - base) / 64 % 251);
      arena.give(block->first, block->second);
      held.erase(block);
    } else {
      const size_t bytes = 1 + random() % 2000;
      unsigned char* data = static_cast<unsigned char*>(arena.take(bytes));
      std::memset(data, int((data - base) / 64 % 251), bytes);
      held[data] = bytes;
    }
  }
  for (const auto& [data, bytes] : held) arena.give(data, bytes);
  arena.give(base, 1);
  BOOST_TEST(arena.in_use() == 0u);
  BOOST_TEST((arena.take(128 * kilobyte) == base));
}

BOOST_AUTO_TEST_CASE(a_wrong_plan_is_a_bug) {
  tx::Backend backend = tx::make_backend(tx::Device::cpu, 1);
  tx::Arena arena(backend, kilobyte);
  BOOST_CHECK_THROW(arena.take(SIZE_MAX), tx::Bug);
  BOOST_CHECK_THROW(tx::Arena().take(SIZE_MAX), tx::Bug);
  void* a = arena.take(kilobyte - 64);
  BOOST_CHECK_THROW(arena.take(65), tx::Bug);
  BOOST_TEST(arena.take(64) != nullptr);
  BOOST_CHECK_THROW(arena.take(1), tx::Bug);
  arena.give(a, kilobyte - 64);
  BOOST_CHECK_THROW(arena.give(a, kilobyte - 64), tx::Bug);
  BOOST_CHECK_THROW(arena.give(static_cast<char*>(a) + 64, 1), tx::Bug);
}

BOOST_AUTO_TEST_CASE(memory_that_is_refused_is_an_error) {
  tx::Backend backend = tx::make_backend(tx::Device::cpu, 1);
  BOOST_CHECK_THROW(tx::Arena(backend, size_t(1) << 60), tx::Error);
}

BOOST_AUTO_TEST_CASE(integers_survive_a_refusal) {
  tx::Backend backend = tx::make_backend(tx::Device::cpu, 1);
  tx::DeviceInts ints(backend);
  const std::vector<int32_t> small{1, 2, 3};
  ints.set<int32_t>(small);
  BOOST_CHECK_THROW(ints.set(std::span<const int32_t>(small.data(), size_t(1) << 57)), tx::Error);
  const int32_t* data = ints.set<int32_t>(small);
  BOOST_TEST(std::vector<int32_t>(data, data + 3) == small, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(range_allocator)

BOOST_AUTO_TEST_CASE(gaps_join) {
  tx::RangeAllocator r(10);
  BOOST_TEST(r.take(4) == 0);
  BOOST_TEST(r.take(3) == 4);
  BOOST_TEST(r.take(4) == -1);
  r.give(1, 2);
  BOOST_TEST(r.take(3) == 7);
  BOOST_TEST(r.take(3) == -1);
  r.give(0, 1);
  r.give(3, 1);
  BOOST_TEST(r.take(4) == 0);
  BOOST_TEST(r.take(1) == -1);
  BOOST_CHECK_THROW(r.give(8, 3), tx::Bug);
  r.give(4, 3);
  BOOST_CHECK_THROW(r.give(5, 1), tx::Bug);
  BOOST_CHECK_THROW(r.give(3, 2), tx::Bug);
}

// Against a list of the owner of each element.
BOOST_AUTO_TEST_CASE(random_takes_and_gives) {
  constexpr int64_t size = 200;
  tx::RangeAllocator r(size);
  std::vector<int> owner(size, 0);
  struct Held {
    int64_t first, count;
  };
  std::vector<Held> held;
  tx::PhiloxStream random(1, 2);
  int refused = 0;
  for (int round = 1; round < 4000; ++round) {
    if (random.next() % 2 && !held.empty()) {
      const size_t i = random.next() % held.size();
      for (int64_t p = 0; p < held[i].count; ++p) owner[size_t(held[i].first + p)] = 0;
      r.give(held[i].first, held[i].count);
      held.erase(held.begin() + long(i));
      continue;
    }
    const int64_t count = 1 + random.next() % 40, first = r.take(count);
    int64_t gap = 0, largest = 0;
    for (const int o : owner) largest = std::max(largest, gap = o ? 0 : gap + 1);
    BOOST_TEST((first >= 0) == (largest >= count));
    if (first < 0) {
      ++refused;
      continue;
    }
    for (int64_t p = first; p < first + count; ++p) {
      BOOST_TEST(owner[size_t(p)] == 0);
      owner[size_t(p)] = round;
    }
    held.push_back({first, count});
  }
  BOOST_TEST(refused > 10);
}

BOOST_AUTO_TEST_SUITE_END()
