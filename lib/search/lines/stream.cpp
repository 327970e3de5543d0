#include "lib/search/lines/stream.h"

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "lib/base/error.h"
#include "lib/search/lines/remarks.h"
#include "lib/search/lines/source_reader.h"

namespace tx {

namespace {

using Clock = std::chrono::steady_clock;

struct Answer {
  std::string text, status;
  double log_p = 0;
  int64_t labels = 0;  // that it is of
  bool ready = false;
};

// A line of a window: its sources, one for each part where it is split, stand together.
struct Entry {
  Line line;
  size_t first_source = 0;
  Clock::time_point arrived;
  std::vector<Translation> found = {};  // of each part
  size_t missing = 0;                   // parts without a translation
  Answer answer = {};
};

// Lines that are sorted into batches together.
struct Window {
  std::vector<Entry> entries;
  std::vector<Source> sources;
  std::vector<size_t> entry_of;  // by source
};

struct Job {
  Window* window = nullptr;
  std::vector<size_t> sources;
};

// What reader, workers and writer share. `lock` guards the fields and every Answer.
struct Pipeline {
  const Translator& translator;
  const LineOptions& options;
  const Log& log;
  const StreamOutput& out;

  std::mutex lock;
  std::condition_variable changed;
  std::deque<std::unique_ptr<Window>> windows;  // read and not wholly written, in order
  std::deque<Job> jobs;
  int running = 0;  // jobs
  bool read_ended = false, stop = false;
  std::exception_ptr reading_failed;
  FirstError failed;  // a thread, beside what it reads: everything stops
  Remarks remarks;

  // Takes the translation of a source; with that of its last part the line is answered.
  void take(Window& window, size_t source, Translation translation) {
    Entry& entry = window.entries[window.entry_of[source]];
    {
      const std::lock_guard guard(lock);
      entry.found[source - entry.first_source] = std::move(translation);
      if (--entry.missing > 0) return;
    }
    answer(entry, window.sources[entry.first_source + entry.found.size() - 1]);
  }

  // source: of the last part.
  void answer(Entry& entry, const Source& source) {
    const std::chrono::duration<double, std::milli> spent = Clock::now() - entry.arrived;
    Translation translation = join_parts(entry.found, translator.options().search.alpha);
    if (out.rank) out.rank(translation);
    std::vector<std::string> columns;
    if (out.column)
      for (const TokenHypothesis& h : translation) columns.push_back(out.column(source, h));
    const ModelSet& models = translator.models();
    const auto states =
        states_of(entry.line, source, translation.front(), models, translator.rules());
    std::span<const int> prompt;
    if (translator.continues()) prompt = source.ids;
    Answer a;
    a.text = options.json
                 ? format_json(entry.line, translation, states, options, models.target(), columns,
                               prompt)
                 : format_line(entry.line, translation, options, models.target(), columns, prompt);
    a.log_p = translation.front().log_p;
    a.labels = int64_t(translation.front().ids.size()) + translation.front().complete;
    if (entry.line.blank) a.labels = 0;
    a.status = format_status(entry.line, translation, states, spent.count());
    a.ready = true;
    const std::lock_guard guard(lock);
    remarks.add(entry.line.number, states);
    entry.answer = std::move(a);
    if (out.progress) out.progress->add();
    changed.notify_all();
  }
  void halt() {
    const std::lock_guard guard(lock);
    stop = true;
    changed.notify_all();
  }
};

// -- reader

// Workers are busy with one window while the next is read and the last lines of another finish.
constexpr size_t windows_in_flight = 3, max_lines = 8192, max_bytes = size_t(1) << 20;
// An idle wait ends now and then to see whether everything is to stop. A writer that is about to
// send the next line gets a moment, so that its lines come into one batch.
constexpr int idle_ms = 200, linger_ms = 1;

class StreamReader {
 public:
  StreamReader(Pipeline& p, LinePairs& in) : p_(p), in_(in, p.translator, p.options, p.log) {
    const TranslatorOptions& o = p.translator.options();
    max_tokens_ = 16 * o.batch_tokens * o.threads;
  }

  void run() {
    std::exception_ptr failure;
    for (bool more = true; more;) {
      if (!wait_for_room()) return;
      auto window = std::make_unique<Window>();
      try {
        more = fill(*window);
      } catch (...) {  // the lines before are still translated
        failure = std::current_exception();
        more = false;
      }
      hand_over(std::move(window));
    }
    in_.warn_at_end();
    const std::lock_guard guard(p_.lock);
    p_.read_ended = true;
    p_.reading_failed = failure;
    p_.changed.notify_all();
  }

 private:
  bool wait_for_room() {
    std::unique_lock guard(p_.lock);
    p_.changed.wait(guard, [&] { return p_.stop || p_.windows.size() < windows_in_flight; });
    return !p_.stop;
  }

  // Waits for a line, then takes what has arrived. False at the end.
  bool fill(Window& window) {
    if (!in_.ready(idle_ms)) return true;
    Clock::time_point until;
    size_t bytes = 0;
    int64_t tokens = 0;
    Line line;
    std::vector<Source> parts;
    do {
      const auto arrived = Clock::now();
      if (window.entries.empty())
        until = arrived + std::chrono::milliseconds(p_.options.latency_ms);
      if (!in_.next(line, parts)) return false;
      bytes += in_.bytes();
      for (const Source& part : parts)
        tokens += int64_t(part.ids.size() + part.target.size() + part.prefix.size());
      window.entries.push_back({line, window.sources.size(), arrived});
      window.entries.back().found.resize(parts.size());
      window.entries.back().missing = parts.size();
      for (Source& part : parts) {
        window.entry_of.push_back(window.entries.size() - 1);
        window.sources.push_back(std::move(part));
      }
    } while (window.entries.size() < max_lines && bytes < max_bytes && tokens < max_tokens_ &&
             in_.ready(patience(until)));
    return true;
  }

  int patience(Clock::time_point until) const {
    if (p_.options.latency_ms == 0) return linger_ms;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    return int(std::max<int64_t>(0, left.count()));
  }

  void hand_over(std::unique_ptr<Window> window) {
    if (window->entries.empty()) return;
    for (const Entry& entry : window->entries) {
      if (!entry.line.blank) continue;
      p_.take(*window, entry.first_source, answer_blank(window->sources[entry.first_source]));
    }
    auto batches = p_.translator.batches(window->sources);
    const std::lock_guard guard(p_.lock);
    for (auto& batch : batches) p_.jobs.push_back({window.get(), std::move(batch)});
    p_.windows.push_back(std::move(window));
    p_.changed.notify_all();
  }

  Pipeline& p_;
  SourceReader in_;
  int64_t max_tokens_;
};

// -- workers

void work(Pipeline& p, std::unique_ptr<TranslationWorker>& worker, const Job& job, int threads) {
  if (!worker) worker = p.translator.worker();
  std::vector<const Source*> batch;
  for (const size_t i : job.sources) batch.push_back(&job.window->sources[i]);
  std::vector<Translation> found = worker->translate(batch, threads);
  for (size_t i = 0; i < found.size(); ++i)
    p.take(*job.window, job.sources[i], std::move(found[i]));
}

void work_loop(Pipeline& p) {
  std::unique_ptr<TranslationWorker> worker;  // made with the first job: idle workers cost nothing
  for (;;) {
    std::unique_lock guard(p.lock);
    p.changed.wait(guard, [&] { return p.stop || p.read_ended || !p.jobs.empty(); });
    if (p.stop || p.jobs.empty()) return;
    const Job job = std::move(p.jobs.front());
    p.jobs.pop_front();
    ++p.running;
    // A job that has the machine to itself takes all of it.
    const int threads = p.translator.threads_each(size_t(p.running) + p.jobs.size());
    guard.unlock();
    work(p, worker, job, threads);
    guard.lock();
    --p.running;
  }
}

// -- writer

class StreamWriter {
 public:
  StreamWriter(Pipeline& p, const StreamOutput& out) : p_(p), out_(out) {}

  void run() {
    if (out_.status) out_.status->write(status_header());
    while (Window* window = next_window()) {
      for (Entry& entry : window->entries) {
        const Answer answer = wait_for(entry);
        out_.lines.write(answer.text);
        if (out_.status) out_.status->write(answer.status);
        if (out_.scored && std::isfinite(answer.log_p)) {
          out_.scored->log_p += answer.log_p;
          out_.scored->labels += answer.labels;
        }
      }
      const std::lock_guard guard(p_.lock);
      p_.windows.pop_front();
      p_.changed.notify_all();
    }
    flush();
  }

 private:
  // Waits until `done()`; what has been written is sent before.
  template <class F>
  void wait(std::unique_lock<std::mutex>& guard, F&& done) {
    if (!done() && !p_.failed.happened()) {
      guard.unlock();
      flush();
      guard.lock();
      p_.changed.wait(guard, [&] { return done() || p_.failed.happened(); });
    }
    if (!done()) p_.failed.rethrow();
  }

  Window* next_window() {
    std::unique_lock guard(p_.lock);
    wait(guard, [&] { return !p_.windows.empty() || p_.read_ended; });
    return p_.windows.empty() ? nullptr : p_.windows.front().get();
  }

  Answer wait_for(Entry& entry) {
    std::unique_lock guard(p_.lock);
    wait(guard, [&] { return entry.answer.ready; });
    return std::move(entry.answer);
  }

  void flush() {
    out_.lines.flush();
    if (out_.status) out_.status->flush();
  }

  Pipeline& p_;
  const StreamOutput& out_;
};

// Stops and joins its threads on every way out.
struct Team {
  Pipeline& pipeline;
  std::vector<std::thread> threads = {};
  void start(const std::function<void()>& body) {
    threads.push_back(start_thread(pipeline.failed, [this, body] {
      if (!pipeline.failed.run(body)) pipeline.halt();
    }));
  }
  ~Team() {
    pipeline.halt();
    for (auto& thread : threads) thread.join();
  }
};

}  // namespace

void translate_stream(LinePairs& in, const Translator& translator, const LineOptions& options,
                      const StreamOutput& out, const Log& log) {
  Pipeline p{translator, options, log, out, {}, {}, {}, {}, 0, false, false, nullptr, {}, {}};
  {
    Team team{p};
    team.start([&] { StreamReader(p, in).run(); });
    team.start([&] { work_loop(p); });
    try {
      for (int i = 1; i < translator.options().threads; ++i) team.start([&] { work_loop(p); });
    } catch (const Error&) {  // fewer do the work
    }
    StreamWriter(p, out).run();
  }
  if (p.reading_failed) std::rethrow_exception(p.reading_failed);
  // A continuation is cut as a rule, and has no source to copy.
  if (!translator.options().search.forced_target && !translator.continues()) p.remarks.tell(log);
}

}  // namespace tx
