#include "lib/search/engine/translation_queue.h"

#include <algorithm>

#include "lib/base/error.h"

namespace tx {

// Three: one is translated while the next is filled and the last requests of another finish.
constexpr size_t max_windows = 3, max_requests = 8192;
// Wait this long for the next line of a writer, so that its lines form one batch.
constexpr auto linger = std::chrono::milliseconds(1);

struct TranslationQueue::Entry {
  std::unique_ptr<TranslationRequest> request;
  size_t first_source = 0;
  std::vector<Translation> found;  // of each part
  size_t missing = 0;              // parts without a translation
  bool finished = false;
};

// Requests that are divided into batches together. Requests are added until it is closed.
struct TranslationQueue::Window {
  std::vector<Entry> entries;
  std::vector<Source> sources;   // of all entries
  std::vector<size_t> entry_of;  // by source
  int64_t tokens = 0;
};

TranslationQueue::TranslationQueue(const Translator& translator, int latency_ms)
    : translator_(translator),
      latency_(latency_ms),
      max_tokens_(16 * translator.options().batch_tokens * translator.options().threads),
      max_workers_(size_t(translator.options().threads)) {
  start_worker();
}

void TranslationQueue::start_worker() {
  threads_.all.push_back(start_thread(failed_, [this] {
    if (!failed_.run([&] { work_loop(); })) stop();
  }));
}

// Starts workers until there are `count`, or as many as allowed.
void TranslationQueue::start_workers(size_t count) {
  try {
    while (!stop_ && threads_.all.size() < std::min(count, max_workers_)) start_worker();
  } catch (const Error&) {
    max_workers_ = threads_.all.size();  // these do the work
  }
}

TranslationQueue::~TranslationQueue() = default;

TranslationQueue::Threads::~Threads() {
  queue.stop();
  for (std::thread& thread : all) thread.join();
}

void TranslationQueue::stop() {
  const std::lock_guard guard(lock_);
  stop_ = true;
  changed_.notify_all();
}

bool TranslationQueue::put(std::unique_ptr<TranslationRequest> request, std::vector<Source> parts) {
  TX_ASSERT(!parts.empty());
  std::unique_lock guard(lock_);
  changed_.wait(guard, [&] { return stop_ || open_ || windows_.size() < max_windows; });
  if (stop_) return false;
  last_put_ = Clock::now();
  if (!open_) {
    windows_.push_back(std::make_unique<Window>());
    first_put_ = last_put_;
    open_ = true;
    if (idle_ == 0) start_workers(threads_.all.size() + 1);  // to close it in time
    changed_.notify_all();
  }
  Window& window = *windows_.back();
  window.entries.push_back({std::move(request), window.sources.size(), {}, parts.size()});
  window.entries.back().found.resize(parts.size());
  for (Source& part : parts) {
    window.tokens += int64_t(part.ids.size() + part.target.size() + part.prefix.size());
    window.entry_of.push_back(window.entries.size() - 1);
    window.sources.push_back(std::move(part));
  }
  if (window.entries.size() < max_requests && window.tokens < max_tokens_) return true;
  if (failed_.run([&] { close_window(guard); })) return true;
  if (guard.owns_lock()) guard.unlock();
  stop();
  return false;
}

std::unique_ptr<TranslationRequest> TranslationQueue::take(const std::function<void()>& idle) {
  std::unique_lock guard(lock_);
  const auto ready = [&] { return is_finished() || (closed_ && windows_.empty()); };
  if (!ready() && !stop_) {
    if (idle) {
      guard.unlock();
      idle();
      guard.lock();
    }
    changed_.wait(guard, [&] { return ready() || stop_; });
  }
  if (!ready()) {
    failed_.rethrow();
    return nullptr;
  }
  if (windows_.empty()) return nullptr;
  Window& window = *windows_.front();
  std::unique_ptr<TranslationRequest> request = std::move(window.entries[taken_].request);
  if (++taken_ < window.entries.size()) return request;
  windows_.pop_front();
  taken_ = 0;
  changed_.notify_all();
  return request;
}

bool TranslationQueue::is_finished() const {
  if (windows_.empty()) return false;
  const Window& window = *windows_.front();
  return taken_ < window.entries.size() && window.entries[taken_].finished;
}

void TranslationQueue::work_loop() {
  Pool<TranslationWorker>::Lent worker;  // from the first job on, to save memory
  Job job;
  for (std::unique_lock guard(lock_); next_job(guard, job);) {
    ++running_;
    // A job that runs alone uses all threads.
    const int threads = translator_.threads_each(size_t(running_) + jobs_.size());
    guard.unlock();
    if (!worker) worker = translator_.worker();
    std::vector<const Source*> batch;
    for (const size_t i : job.sources) batch.push_back(&job.window->sources[i]);
    std::vector<Translation> translations = worker->translate(batch, threads);
    for (size_t i = 0; i < translations.size(); ++i)
      found(*job.window, job.sources[i], std::move(translations[i]));
    guard.lock();
    --running_;
  }
}

// Waits for a job; closes the open window when it is due(). False at the end.
bool TranslationQueue::next_job(std::unique_lock<std::mutex>& guard, Job& job) {
  while (jobs_.empty()) {
    if (!again_.empty() && !stop_) {
      add_job_of_again();
      continue;
    }
    if (stop_ || (closed_ && !open_ && closing_ == 0)) return false;
    if (open_ && (closed_ || Clock::now() >= due())) {
      close_window(guard);
      continue;
    }
    ++idle_;
    if (open_)
      changed_.wait_until(guard, due());
    else
      changed_.wait(guard);
    --idle_;
  }
  if (stop_) return false;
  job = std::move(jobs_.front());
  jobs_.pop_front();
  return true;
}

TranslationQueue::Clock::time_point TranslationQueue::due() const {
  return latency_.count() > 0 ? first_put_ + latency_ : last_put_ + linger;
}

// Divides the open window into jobs, unlocked. When its last blank source ends, it may be deleted.
void TranslationQueue::close_window(std::unique_lock<std::mutex>& guard) {
  Window& window = *windows_.back();
  open_ = false;
  ++closing_;
  guard.unlock();
  std::vector<size_t> blank;
  for (size_t i = 0; i < window.sources.size(); ++i)
    if (window.sources[i].blank()) blank.push_back(i);
  auto batches = translator_.batches(window.sources);
  guard.lock();
  --closing_;
  for (auto& batch : batches) jobs_.push_back({&window, std::move(batch)});
  start_workers(size_t(running_) + jobs_.size());
  changed_.notify_all();
  guard.unlock();
  for (const size_t i : blank) found(window, i, blank_translation(window.sources[i]));
  guard.lock();
}

// Sources of one window, shared with the workers that wait.
void TranslationQueue::add_job_of_again() {
  Window* const window = again_.front().first;
  const size_t share = again_.size() / size_t(idle_ + 1) + 1;
  Job job{window, {}};
  while (!again_.empty() && again_.front().first == window && job.sources.size() < share) {
    job.sources.push_back(again_.front().second);
    again_.pop_front();
  }
  jobs_.push_back(std::move(job));
}

// Stores the translation of a source; the last one of a request finishes the request.
void TranslationQueue::found(Window& window, size_t source, Translation translation) {
  Entry& entry = window.entries[window.entry_of[source]];
  {
    const std::lock_guard guard(lock_);
    entry.found[source - entry.first_source] = std::move(translation);
    if (--entry.missing > 0) return;
  }
  const std::span<Source> parts(&window.sources[entry.first_source], entry.found.size());
  const std::vector<size_t> again = entry.request->finish(parts, entry.found);
  const std::lock_guard guard(lock_);
  entry.missing = again.size();
  entry.finished = again.empty();
  for (const size_t part : again) again_.emplace_back(&window, entry.first_source + part);
  changed_.notify_all();
}

}  // namespace tx
