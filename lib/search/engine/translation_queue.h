// Translates requests while they arrive, and gives them back in the order in which they came.
// Threads of its own collect requests into batches and translate them. The memory that it holds is
// bounded.
//
//   TranslationQueue queue(translator, 0);
//   on one thread:   while (read(request, parts) && queue.put(std::move(request),
//   std::move(parts))) {}
//                    queue.close();
//   on another:      while (auto request = queue.take()) write(*request);
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <thread>

#include "lib/search/engine/translator.h"

namespace tx {

// A unit that is answered at once, such as a line of text; derive from it what belongs to the
// answer.
class TranslationRequest {
 public:
  virtual ~TranslationRequest() = default;
  // The translations of its parts, in order. Called once, on any thread of the queue.
  virtual void finish(std::span<const Source> parts, std::vector<Translation> found) = 0;
};

class TranslationQueue {
 public:
  // A batch is closed when it is full; or else, once a worker is idle, `latency_ms` after its first
  // request, or with 0 when no request has followed the last for a millisecond. Starts as many
  // workers as the translator has threads, or as can be started; Error where that is none.
  TranslationQueue(const Translator& translator, int latency_ms);
  ~TranslationQueue();  // stop()

  // parts: one at least. Waits while too much is in the queue. False once it is stopped.
  bool put(std::unique_ptr<TranslationRequest> request, std::vector<Source> parts);
  void close();  // nothing further will be put
  void stop();   // drops what is not finished, as a worker that fails does
  bool stopped() const;
  // The next finished request in the order of put(), null after the last. Calls `idle`, where
  // given, before it waits. Rethrows what a worker failed with; null where stop() was called.
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

  void work_loop();
  bool next_job(std::unique_lock<std::mutex>& guard, Job& job);
  Clock::time_point due() const;
  void close_window(std::unique_lock<std::mutex>& guard);
  void found(Window& window, size_t source, Translation translation);
  bool is_finished() const;

  const Translator& translator_;
  const std::chrono::milliseconds latency_;
  const int64_t max_tokens_;  // of a window
  mutable std::mutex lock_;   // of all that follows
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Window>> windows_;  // in order; the last may be open
  std::deque<Job> jobs_;
  size_t taken_ = 0;  // requests of the first window
  int running_ = 0;   // jobs
  bool open_ = false, closed_ = false, stop_ = false;
  Clock::time_point first_put_, last_put_;  // of the open window
  FirstError failed_;
  Threads threads_{*this};
};

}  // namespace tx
