// Translates requests as they arrive, and returns them in the same order. Requests are collected
// in a window; a closed window is divided into batches of similar length, which worker threads
// translate. Memory use is bounded.
//
//   TranslationQueue queue(translator, 0);
//   one thread:  while (read(request, parts) && queue.put(move(request), move(parts))) {}
//                queue.close();
//   another:     while (auto request = queue.take()) write(*request);
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <thread>

#include "lib/search/engine/translator.h"

namespace tx {

// A unit of work with one answer, such as a line. A derived class has what the answer needs.
class TranslationRequest {
 public:
  virtual ~TranslationRequest() = default;
  // The translations of its parts, in order. Returns the numbers of the parts that it has changed
  // and that are to be translated again; none: it is finished. Called on any thread of the queue.
  virtual std::vector<size_t> finish(std::span<Source> parts, std::vector<Translation>& found) = 0;
};

class TranslationQueue {
 public:
  // A window is closed when it is full. If a worker is idle, it is closed earlier: `latency_ms`
  // after its first request, or with 0, a millisecond after its last. Starts workers when none is
  // idle, up to the threads of the translator or what the system allows; Error if it allows none.
  TranslationQueue(const Translator& translator, int latency_ms);
  ~TranslationQueue();  // stop()

  // parts: at least one. Blocks while the queue is full. False if the queue is stopped.
  bool put(std::unique_ptr<TranslationRequest> request, std::vector<Source> parts);
  void close() {  // no more calls of put() will follow
    const std::lock_guard guard(lock_);
    closed_ = true;
    changed_.notify_all();
  }
  void stop();  // discards unfinished requests; a worker that fails calls it, too
  bool stopped() const {
    const std::lock_guard guard(lock_);
    return stop_;
  }
  // The next finished request in the order of put(); null after the last, or if stop() was called.
  // Calls `idle`, if set, before it blocks. Rethrows the error of a worker.
  std::unique_ptr<TranslationRequest> take(const std::function<void()>& idle = {});

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry;
  struct Window;
  struct Job {
    Window* window = nullptr;
    std::vector<size_t> sources;
  };
  struct Threads {
    TranslationQueue& queue;
    std::vector<std::thread> all = {};
    ~Threads();
  };

  void start_worker();
  void start_workers(size_t count);
  void work_loop();
  bool next_job(std::unique_lock<std::mutex>& guard, Job& job);
  Clock::time_point due() const;
  void close_window(std::unique_lock<std::mutex>& guard);
  void add_job_of_again();
  void found(Window& window, size_t source, Translation translation);
  bool is_finished() const;

  const Translator& translator_;
  const std::chrono::milliseconds latency_;
  const int64_t max_tokens_;  // of a window
  mutable std::mutex lock_;   // protects the members below
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Window>> windows_;  // in order; the last may be open
  std::deque<Job> jobs_;
  std::deque<std::pair<Window*, size_t>> again_;  // sources, translated when there is no job
  size_t taken_ = 0;  // requests of the first window that take() has returned
  int running_ = 0;   // jobs in progress
  int idle_ = 0;      // workers that wait
  int closing_ = 0;   // windows that are being divided into jobs
  size_t max_workers_;
  bool open_ = false, closed_ = false, stop_ = false;
  Clock::time_point first_put_, last_put_;  // of the open window
  FirstError failed_;
  Threads threads_{*this};
};

}  // namespace tx
