// Exchanging gradients during the backward pass: the order in which they become final; the thread.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "lib/base/first_error.h"
#include "lib/model/parameters.h"

namespace tx {

// The order in which the rounds of the gradient block (lib/model/division.h) become final. It is
// recorded during one backward pass and is the same for every pass of a run.
class RoundOrder {
 public:
  explicit RoundOrder(const Parameters& parameters);

  // Records one pass: saw_closure() after each closure of Context::backward(), end() at its end.
  void saw_closure();
  void end();

  // For later passes. Rounds with gradients that receive no contribution are last.
  const std::vector<int>& rounds() const { return rounds_; }
  // How many of the first of rounds() are final now, at least `so_far`.
  size_t final(size_t so_far) const;
  // Whether the pass just ended was like the recorded one: otherwise final() may have been wrong.
  bool held() const;

 private:
  struct Watched {  // a table entry, with those joined to it
    size_t entry;
    ElementRange range;
    int written = 0;  // contributions in a whole pass
    int last = 0;     // closures up to the last contribution
  };
  bool is_final(int round) const;

  const Parameters& parameters_;
  std::vector<Watched> entries_;
  std::vector<int> rounds_;
  std::vector<std::vector<size_t>> of_round_;  // indices into entries_
  int closures_ = 0;
};

// A background thread that calls work(0), work(1), ... as far as it is allowed to.
class BackgroundThread {
 public:
  ~BackgroundThread();  // stop(), but an exception of work() is discarded

  // If no thread can be started, no calls are made.
  void start(std::function<void(size_t)> work);
  void allow(size_t count);  // the first `count` calls; never fewer than before
  // Waits for the call in progress; returns how many were made, or throws what one threw.
  size_t stop();

 private:
  void run();

  std::function<void(size_t)> work_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t allowed_ = 0, done_ = 0;
  bool stopped_ = false;
  FirstError failure_;
};

}  // namespace tx
