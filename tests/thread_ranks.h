// Ranks that are threads of one process: a Communicator for tests.
//
//   on_ranks(4, [](tx::Communicator& ranks) { ... });
#pragma once
#include <barrier>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "lib/base/error.h"
#include "lib/ranks/communicator.h"

namespace tx_test {

// What the ranks of a group share: pointers to the data that each of them sends.
struct ThreadGroup {
  explicit ThreadGroup(int size) : given(size_t(size)), meeting(size) {}
  struct Given {
    const char* data;
    std::span<const size_t> bytes;  // for each rank, of exchange()
    int group;
  };
  std::vector<Given> given;
  std::barrier<> meeting;
  std::mutex mutex;
  std::map<int, std::shared_ptr<ThreadGroup>> parts;  // of split()
};

class ThreadRanks : public tx::Communicator {
 public:
  ThreadRanks(std::shared_ptr<ThreadGroup> group, int rank)
      : group_(std::move(group)), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return int(group_->given.size()); }
  int local_rank() const override { return rank_; }
  std::string host() const override { return "threads"; }

  void barrier() override { group_->meeting.arrive_and_wait(); }
  void broadcast(void* data, size_t bytes) override {
    give(data, {}, [&] {
      if (rank_ > 0) std::memcpy(data, group_->given[0].data, bytes);
    });
  }
  void gather_all(const void* mine, size_t bytes, void* all) override {
    give(mine, {}, [&] {
      for (size_t r = 0; r < group_->given.size(); ++r) {
        char* const to = static_cast<char*>(all) + r * bytes;
        if (bytes && to != group_->given[r].data) std::memcpy(to, group_->given[r].data, bytes);
      }
    });
  }
  void exchange(const void* from, std::span<const size_t> from_bytes, void* to,
                std::span<const size_t> to_bytes) override {
    give(from, from_bytes, [&] {
      char* at = static_cast<char*>(to);
      for (size_t r = 0; r < group_->given.size(); ++r) {
        const ThreadGroup::Given& given = group_->given[r];
        const char* start = given.data;
        for (int before = 0; before < rank_; ++before) start += given.bytes[size_t(before)];
        TX_ASSERT(given.bytes[size_t(rank_)] == to_bytes[r]);
        if (to_bytes[r]) std::memcpy(at, start, to_bytes[r]);
        at += to_bytes[r];
      }
    });
  }
  std::unique_ptr<tx::Communicator> split(int group) override {
    std::shared_ptr<ThreadGroup> part;
    int size = 0, place = 0;
    group_->given[size_t(rank_)].group = group;
    barrier();
    for (size_t r = 0; r < group_->given.size(); ++r) {
      if (group_->given[r].group != group) continue;
      place += int(r) < rank_;
      ++size;
    }
    {
      const std::lock_guard lock(group_->mutex);
      std::shared_ptr<ThreadGroup>& found = group_->parts[group];
      if (!found) found = std::make_shared<ThreadGroup>(size);
      part = found;
    }
    barrier();
    if (place == 0) {
      const std::lock_guard lock(group_->mutex);
      group_->parts.erase(group);
    }
    barrier();
    return std::make_unique<ThreadRanks>(part, place);
  }

 private:
  template <class Take>
  void give(const void* data, std::span<const size_t> bytes, const Take& take) {
    group_->given[size_t(rank_)] = {static_cast<const char*>(data), bytes, 0};
    barrier();
    take();
    barrier();
  }

  std::shared_ptr<ThreadGroup> group_;
  int rank_;
};

// Calls f(ranks) on `count` threads, each a rank, and rethrows the first exception. If a rank fails
// while others wait for it, they wait forever, and the test fails at its time limit.
inline void on_ranks(int count, const std::function<void(tx::Communicator&)>& f) {
  const auto group = std::make_shared<ThreadGroup>(count);
  std::vector<std::exception_ptr> failures(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      try {
        ThreadRanks ranks(group, rank);
        f(ranks);
      } catch (...) {
        failures[size_t(rank)] = std::current_exception();
        group->meeting.arrive_and_drop();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tx_test
