#include "lib/base/pool.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

using tx::Pool;

BOOST_AUTO_TEST_SUITE(pool)

BOOST_AUTO_TEST_CASE(an_object_is_made_once_and_lent_to_one_at_a_time) {
  int made = 0;
  Pool<int> numbers([&] { return std::make_unique<int>(++made); });
  {
    const auto one = numbers.lend(), two = numbers.lend();
    BOOST_TEST(*one == 1);
    BOOST_TEST(*two == 2);
  }
  const auto one = numbers.lend(), two = numbers.lend(), three = numbers.lend();
  BOOST_TEST(*one + *two + *three == 1 + 2 + 3);
  BOOST_TEST(made == 3);
}

BOOST_AUTO_TEST_CASE(an_object_that_an_exception_left_is_not_lent_again) {
  int made = 0;
  Pool<int> numbers([&] { return std::make_unique<int>(++made); });
  BOOST_CHECK_THROW(([&] {
                      const auto one = numbers.lend();
                      throw std::runtime_error("in use");
                    }()),
                    std::runtime_error);
  BOOST_TEST(*numbers.lend() == 2);
  BOOST_TEST(*numbers.lend() == 2);
}

BOOST_AUTO_TEST_CASE(threads_share_what_is_idle) {
  std::atomic<int> made{0};
  Pool<int> numbers([&] { return std::make_unique<int>(++made); });
  std::vector<std::thread> threads;
  std::atomic<bool> shared{false};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        const auto number = numbers.lend();
        const int mine = *number;
        *number = -1;  // while it is lent
        if (mine == -1) shared = true;
        *number = mine;
      }
    });
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(!shared);
  BOOST_TEST(made <= 4);
}

BOOST_AUTO_TEST_SUITE_END()
