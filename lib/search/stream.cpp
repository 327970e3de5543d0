#include "lib/search/stream.h"

#include <fcntl.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "lib/base/error.h"
#include "lib/search/source_reader.h"

namespace tx {

namespace {

using Clock = std::chrono::steady_clock;

struct Answer {
  std::string text, status;
  bool ready = false;
};

// Lines that are sorted into batches together; entry i of each vector belongs to line i.
struct Window {
  std::vector<Line> lines;
  std::vector<Source> sources;
  std::vector<Clock::time_point> arrived;
  std::vector<Answer> answers;
};

struct Job {
  Window* window = nullptr;
  std::vector<size_t> lines;
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
  std::exception_ptr reading_failed, working_failed;

  void answer(Window& window, size_t line, const Translation& translation) {
    const std::chrono::duration<double, std::milli> spent = Clock::now() - window.arrived[line];
    Answer a;
    std::vector<std::string> columns;
    if (out.column)
      for (const PieceHypothesis& h : translation)
        columns.push_back(out.column(window.sources[line], h));
    a.text = format_line(window.lines[line], translation, options, translator.models().target(),
                         columns);
    a.status = format_status(window.lines[line], translation, spent.count());
    a.ready = true;
    const std::lock_guard guard(lock);
    window.answers[line] = std::move(a);
    if (out.progress) out.progress->add();
    changed.notify_all();
  }
  void halt(std::exception_ptr failure = nullptr) {
    const std::lock_guard guard(lock);
    if (failure && !working_failed) working_failed = failure;
    stop = true;
    changed.notify_all();
  }
};

// -- reader

// Workers are busy with one window while the next is read and the last lines of another finish.
constexpr size_t windows_in_flight = 3, most_lines = 8192, most_bytes = size_t(1) << 20;
// An idle wait ends now and then to see whether everything is to stop. A writer that is about to
// send the next line gets a moment, so that its lines come into one batch.
constexpr int idle_ms = 200, linger_ms = 1;

class StreamReader {
 public:
  StreamReader(Pipeline& p, LinePairs& in) : p_(p), in_(in, p.translator, p.options, p.log) {
    const TranslatorOptions& o = p.translator.options();
    most_pieces_ = 16 * o.batch_tokens * o.threads;
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
    size_t bytes = 0;
    int64_t pieces = 0;
    Line line;
    Source source;
    do {
      if (!in_.next(line, source)) return false;
      bytes += in_.bytes();
      pieces += int64_t(source.ids.size() + source.target.size() + source.prefix.size());
      window.lines.push_back(line);
      window.sources.push_back(std::move(source));
      window.arrived.push_back(Clock::now());
    } while (window.lines.size() < most_lines && bytes < most_bytes && pieces < most_pieces_ &&
             in_.ready(linger_ms));
    return true;
  }

  void hand_over(std::unique_ptr<Window> window) {
    if (window->lines.empty()) return;
    window->answers.resize(window->lines.size());
    for (size_t i = 0; i < window->lines.size(); ++i) {
      if (window->lines[i].blank) p_.answer(*window, i, answer_blank(window->sources[i]));
    }
    auto batches = p_.translator.batches(window->sources);
    const std::lock_guard guard(p_.lock);
    for (auto& batch : batches) p_.jobs.push_back({window.get(), std::move(batch)});
    p_.windows.push_back(std::move(window));
    p_.changed.notify_all();
  }

  Pipeline& p_;
  SourceReader in_;
  int64_t most_pieces_;
};

// -- workers

void work(Pipeline& p, std::unique_ptr<TranslationWorker>& worker, const Job& job, int threads) {
  if (!worker) worker = p.translator.worker();
  std::vector<const Source*> batch;
  for (const size_t line : job.lines) batch.push_back(&job.window->sources[line]);
  const std::vector<Translation> found = worker->translate(batch, threads);
  for (size_t i = 0; i < found.size(); ++i) p.answer(*job.window, job.lines[i], found[i]);
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
    try {
      work(p, worker, job, threads);
    } catch (...) {
      return p.halt(std::current_exception());
    }
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
      for (size_t i = 0; i < window->lines.size(); ++i) {
        const Answer answer = wait_for(*window, i);
        out_.lines.write(answer.text);
        if (out_.status) out_.status->write(answer.status);
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
    if (!done() && !p_.working_failed) {
      guard.unlock();
      flush();
      guard.lock();
      p_.changed.wait(guard, [&] { return done() || p_.working_failed; });
    }
    if (!done()) std::rethrow_exception(p_.working_failed);
  }

  Window* next_window() {
    std::unique_lock guard(p_.lock);
    wait(guard, [&] { return !p_.windows.empty() || p_.read_ended; });
    return p_.windows.empty() ? nullptr : p_.windows.front().get();
  }

  Answer wait_for(Window& window, size_t line) {
    std::unique_lock guard(p_.lock);
    wait(guard, [&] { return window.answers[line].ready; });
    return std::move(window.answers[line]);
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
  std::vector<std::thread> threads;
  ~Team() {
    pipeline.halt();
    for (auto& thread : threads) thread.join();
  }
};

}  // namespace

std::unique_ptr<Writer> open_status(const std::string& place) {
  if (place.empty()) return nullptr;
  const bool number = place.size() <= 6 && place.find_first_not_of("0123456789") == place.npos;
  const int fd = number ? std::stoi(place) : -1;
  if (place == "-" || fd == 1) {
    throw UsageError("--status " + place +
                     ": standard output is for the translations; name a file, or use 2 or 3");
  }
  if (!number) return std::make_unique<Writer>(place);
  if (::fcntl(fd, F_GETFD) < 0) {
    throw UsageError("--status " + place + ": descriptor " + place + " is not open; add " + place +
                     ">FILE to the command, or give ./" + place + " for a file of that name");
  }
  return std::make_unique<Writer>(fd, "descriptor " + place);
}

void translate_stream(LinePairs& in, const Translator& translator, const LineOptions& options,
                      const StreamOutput& out, const Log& log) {
  Pipeline p{translator, options, log, out, {}, {}, {}, {}, 0, false, false, nullptr, nullptr};
  {
    Team team{p, {}};
    team.threads.push_back(start_thread([&] { StreamReader(p, in).run(); }));
    team.threads.push_back(start_thread([&] { work_loop(p); }));
    try {
      for (int i = 1; i < translator.options().threads; ++i)
        team.threads.push_back(start_thread([&] { work_loop(p); }));
    } catch (const Error&) {  // fewer do the work
    }
    StreamWriter(p, out).run();
  }
  if (p.reading_failed) std::rethrow_exception(p.reading_failed);
}

}  // namespace tx
