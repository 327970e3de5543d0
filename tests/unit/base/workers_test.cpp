#include "lib/base/workers.h"

#include <sys/resource.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <thread>

#include "lib/base/error.h"
#include "tests/support.h"

using namespace tx;
using tx_test::message_of;
using tx_test::TempFolder;

namespace {

// Reads `count` blocks of one line each, "0", "1", ...
std::function<bool(Block&)> counting(int count, std::atomic<int>& read) {
  return [count, &read](Block& block) {
    if (read == count) return false;
    block.lines = {std::to_string(read)};
    block.first_line = ++read;
    return true;
  };
}

// Work that takes longer for some blocks, so that results are finished out of order.
void slow_work(Block& block) {
  const int i = std::stoi(block.lines[0]);
  if (i % 7 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  block.lines[0] += "!";
}

std::string run_until_failure(int threads, int failing) {
  std::atomic<int> read = 0;
  std::string written;
  const auto work = [&](Block& block) {
    slow_work(block);
    if (block.first_line >= failing) {
      throw DataError("line " + std::to_string(block.first_line));
    }
  };
  const auto write = [&](const Block& block) { written += block.lines[0]; };
  written +=
      message_of<DataError>([&] { ordered_workers(threads, counting(1000, read), work, write); });
  return written;
}

}  // namespace

BOOST_AUTO_TEST_CASE(results_come_in_order) {
  for (const int threads : {1, 2, 3, 8}) {
    std::atomic<int> read = 0;
    int next = 0, wrong = 0;
    ordered_workers(threads, counting(500, read), slow_work, [&](const Block& block) {
      wrong += block.lines[0] != std::to_string(next++) + "!";
    });
    BOOST_TEST(next == 500);
    BOOST_TEST(wrong == 0);
  }
}

BOOST_AUTO_TEST_CASE(memory_is_bounded) {
  std::atomic<int> read = 0, written = 0;
  int max = 0;
  const auto count = counting(300, read);
  const auto bounded_read = [&](Block& block) {
    max = std::max(max, read - written);
    return count(block);
  };
  ordered_workers(
      3, bounded_read, [](Block&) {},
      [&](const Block&) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        ++written;
      });
  BOOST_TEST(written == 300);
  BOOST_TEST(max <= 2 * 3 + 2);
  BOOST_TEST(max > 0);
}

// For any number of threads, exactly the blocks before the failure are written.
BOOST_AUTO_TEST_CASE(first_failure_in_order_is_thrown) {
  const std::string expected = "0!1!2!3!4!5!6!7!8!line 10";
  for (const int threads : {1, 2, 5}) {
    BOOST_TEST(run_until_failure(threads, 10) == expected);
  }
}

BOOST_AUTO_TEST_CASE(failures_of_read_and_write_are_thrown) {
  for (const int threads : {1, 4}) {
    std::atomic<int> read = 0;
    int written = 0;
    const auto failing_read = [&](Block& block) {
      if (read == 20) throw DataError("read");
      return counting(100, read)(block);
    };
    const auto count_written = [&](const Block&) { ++written; };
    BOOST_TEST(message_of<DataError>([&] {
                 ordered_workers(threads, failing_read, slow_work, count_written);
               }) == "read");
    BOOST_TEST(written == 20);
    read = 0;
    const auto failing_write = [](const Block& block) {
      if (block.first_line == 5) throw DataError("write");
    };
    BOOST_TEST(message_of<DataError>([&] {
                 ordered_workers(threads, counting(100, read), slow_work, failing_write);
               }) == "write");
  }
}

BOOST_AUTO_TEST_CASE(parallel_for_covers_each_once) {
  for (const int threads : {1, 2, 3, 7}) {
    for (const int64_t count : {0, 1, 2, 5, 100}) {
      std::vector<std::atomic<int>> hits(size_t(count) + 1);
      parallel_for(threads, count, [&](int64_t i) { ++hits[size_t(i)]; });
      int64_t once = 0;
      for (int64_t i = 0; i < count; ++i) once += hits[size_t(i)] == 1;
      BOOST_TEST(once == count);
      BOOST_TEST(hits[size_t(count)] == 0);
    }
  }
  const auto failing = [](int64_t i) {
    if (i % 10 == 3) throw DataError(std::to_string(i));
  };
  BOOST_TEST(message_of<DataError>([&] { parallel_for(4, 100, failing); }) == "3");
}

BOOST_AUTO_TEST_CASE(the_first_error_is_carried) {
  FirstError failure;
  BOOST_TEST(failure.run([] {}));
  BOOST_TEST(!failure.happened());
  failure.rethrow();
  start_thread(failure, [] { throw DataError("of a thread"); }).join();
  BOOST_TEST(!failure.run([] { throw 7; }));
  BOOST_TEST(failure.happened());
  BOOST_TEST(message_of<DataError>([&] { failure.rethrow(); }) == "of a thread");
  BOOST_TEST(!failure.happened());
  failure.rethrow();
}

#ifndef __SANITIZE_ADDRESS__  // AddressSanitizer needs the whole address space
// As under ulimit -v: memory for the stacks of a few more threads.
BOOST_AUTO_TEST_CASE(fewer_threads_under_a_limit_of_memory) {
  if (const char* on = std::getenv("TX_SANITIZE"); on && std::string(on) == "ON") return;  // qemu
  const auto child = tx_test::run_in_child([] {
    long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t max = rlim_t(pages) * rlim_t(sysconf(_SC_PAGESIZE)) + (rlim_t(50) << 20);
    const rlimit limit = {max, max};
    setrlimit(RLIMIT_AS, &limit);
    int threads = 200;
    limit_threads(threads, Log("tool"));
    std::atomic<int> read = 0, hits = 0;
    int next = 0, wrong = 0;
    ordered_workers(200, counting(500, read), slow_work, [&](const Block& block) {
      wrong += block.lines[0] != std::to_string(next++) + "!";
    });
    parallel_for(200, 400, [&](int64_t) { ++hits; });
    return threads >= 1 && threads < 200 && next == 500 && wrong == 0 && hits == 400 ? 0 : 1;
  });
  BOOST_TEST(child.status == 0);
  BOOST_TEST(child.err.find("tool: warning: only ") == 0u);
  BOOST_TEST(startable_threads(3) == 3);
}
#endif
