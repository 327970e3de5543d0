#include "lib/train/ranks/overlap.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/workers.h"

namespace tx {

RoundOrder::RoundOrder(const Parameters& parameters)
    : parameters_(parameters), of_round_(size_t(parameters.division().rounds())) {
  const std::vector<ParameterEntry>& table = parameters.table();
  for (size_t i = 0; i < table.size(); ++i) {
    const int64_t end = table[i].offset + table[i].padded_rows * table[i].padded_cols;
    if (!table[i].joined) entries_.push_back({i, {table[i].offset, 0}});
    entries_.back().range.count = end - entries_.back().range.first;
  }
  for (size_t round = 0; round < of_round_.size(); ++round) {
    const ElementRange all = parameters.division().round(int(round));
    for (size_t i = 0; i < entries_.size(); ++i)
      if (entries_[i].range.first < all.end() && all.first < entries_[i].range.end())
        of_round_[round].push_back(i);
  }
}

void RoundOrder::saw_closure() {
  ++closures_;
  for (Watched& e : entries_) {
    const int written = parameters_.written(e.entry);
    if (written > e.written) e.last = closures_;
    e.written = written;
  }
}

void RoundOrder::end() {
  std::vector<int> when(of_round_.size(), 0);
  for (size_t round = 0; round < when.size(); ++round)
    for (const size_t i : of_round_[round])
      when[round] = std::max(
          when[round], entries_[i].written ? entries_[i].last : std::numeric_limits<int>::max());
  rounds_.resize(when.size());
  std::iota(rounds_.begin(), rounds_.end(), 0);
  std::stable_sort(rounds_.begin(), rounds_.end(),
                   [&](int a, int b) { return when[size_t(a)] < when[size_t(b)]; });
}

bool RoundOrder::is_final(int round) const {
  return std::ranges::all_of(of_round_[size_t(round)], [&](size_t i) {
    const Watched& e = entries_[i];
    return e.written > 0 && parameters_.written(e.entry) == e.written;
  });
}

bool RoundOrder::held() const {
  return std::ranges::all_of(
      entries_, [&](const Watched& e) { return parameters_.written(e.entry) == e.written; });
}

size_t RoundOrder::final(size_t so_far) const {
  while (so_far < rounds_.size() && is_final(rounds_[so_far])) ++so_far;
  return so_far;
}

BackgroundThread::~BackgroundThread() {
  try {
    stop();
  } catch (...) {  // another exception is being handled
  }
}

void BackgroundThread::start(std::function<void(size_t)> work) {
  TX_ASSERT(!thread_.joinable());
  work_ = std::move(work);
  allowed_ = done_ = 0;
  stopped_ = false;
  try {
    thread_ = start_thread(failure_, [this] { run(); });
  } catch (const Error&) {  // the caller of stop() does all the work
  }
}

void BackgroundThread::allow(size_t count) {
  const std::lock_guard lock(mutex_);
  allowed_ = count;
  changed_.notify_one();
}

size_t BackgroundThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  failure_.rethrow();
  return done_;
}

void BackgroundThread::run() {
  for (;; ++done_) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || done_ < allowed_; });
    if (stopped_) return;
    lock.unlock();
    work_(done_);
  }
}

}  // namespace tx
