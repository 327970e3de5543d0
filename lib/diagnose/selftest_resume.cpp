#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/io.h"
#include "lib/base/temporary_directory.h"
#include "lib/checkpoint/run_checkpoints.h"
#include "lib/diagnose/training.h"
#include "lib/train/run/signals.h"

namespace tx {

namespace {

constexpr double pilot_seconds = 9;
constexpr int64_t fewest_steps = 8, max_steps = 400;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

struct Stopped {
  int signal;
};

class Selftest {
 public:
  Selftest(const TrainOptions& options, std::vector<std::string> arguments)
      : arguments_(std::move(arguments)) {
    const auto own = std::find(arguments_.begin(), arguments_.end(), "--selftest-resume");
    if (own != arguments_.end()) arguments_.erase(own);
    add("--minutes", "0");
    if (!options.valid_src.empty()) add("--valid-every", "0");
    if (!options.valid_command.empty()) add("--valid-command", "");
    if (options.valid_src.empty()) add("--patience", "0");
    add("--save-minutes", "0");
    if (options.cache.empty()) add("--cache", folder_.path() + "/cache");
  }
  int run(const Log& log);

 private:
  void add(const std::string& option, const std::string& value) {
    arguments_.push_back(option + "=" + value);
  }
  std::vector<std::string> begin(const std::string& run, int64_t steps, double minutes = 0) const;
  pid_t spawn(std::vector<std::string> arguments, const std::string& failpoint) const;
  int wait(pid_t child) const;
  void finish(const std::vector<std::string>& arguments) const;
  int64_t choose_steps() const;
  std::string stop_and_go(int64_t steps, double took) const;
  std::string compare(int64_t steps) const;

  std::vector<std::string> arguments_;
  TemporaryDirectory folder_{"tx-selftest"};
  SignalWatch signals_;  // removes the directory when interrupted
};

std::vector<std::string> Selftest::begin(const std::string& run, int64_t steps,
                                         double minutes) const {
  std::vector<std::string> words = arguments_;
  words.push_back("--out=" + folder_.path() + "/" + run);
  words.push_back("--steps=" + std::to_string(steps));
  words.push_back("--save-every=" + std::to_string(std::max<int64_t>(1, steps / 4)));
  if (minutes > 0) words.push_back("--minutes=" + std::to_string(minutes));
  return words;
}

// Starts tx-train with its log redirected to a file, which is shown if it fails.
pid_t Selftest::spawn(std::vector<std::string> arguments, const std::string& failpoint) const {
  std::vector<std::string> settings;
  for (char** entry = environ; *entry; ++entry)
    if (std::strncmp(*entry, "TX_FAILPOINT=", 13) != 0) settings.push_back(*entry);
  if (!failpoint.empty()) settings.push_back("TX_FAILPOINT=" + failpoint);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  const std::string talk = folder_.path() + "/talk";
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, talk.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, "/proc/self/exe", &files, nullptr,
                                  pointers(arguments).data(), pointers(settings).data());
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw IoError("run", arguments.front(), error);
  return child;
}

int Selftest::wait(pid_t child) const {
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (signals_.stop()) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (signals_.stop()) throw Stopped{signals_.stop()};
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  if (WEXITSTATUS(status) == 0) return 0;
  const std::string text = read_file(folder_.path() + "/talk", 1 << 24);
  const std::string message = "a run of the self-test failed:", log = text.substr(0, 4000);
  if (WEXITSTATUS(status) == 2) throw UsageError(message, log);
  throw Error(message, log);
}

void Selftest::finish(const std::vector<std::string>& arguments) const {
  const int status = wait(spawn(arguments, ""));
  if (status != 0)
    throw Error("a run of the self-test was killed by signal " + std::to_string(status - 128));
}

// The number of steps for a run of a few seconds; the first run builds the cache.
int64_t Selftest::choose_steps() const {
  finish(begin("first", 1));
  finish(begin("pilot", max_steps, pilot_seconds / 60));
  const std::vector<int64_t> steps = checkpoint_steps(folder_.path() + "/pilot", "model");
  return std::clamp(steps.empty() ? 0 : steps.back(), fewest_steps, max_steps);
}

// The run that is killed and resumed; returns where it was killed.
std::string Selftest::stop_and_go(int64_t steps, double took) const {
  const std::vector<std::string> resume{arguments_.front(),
                                        "--resume=" + folder_.path() + "/stopped"};
  std::vector<std::string> next = begin("stopped", steps);
  std::string how;
  for (const char* place : {"model:2", "state:1", "links:1", "pruning:1"}) {
    if (wait(spawn(next, place)) == 0) return how;  // the run ended before it reached this place
    how += (how.empty() ? "" : ", ") + std::string(place);
    next = resume;
  }
  for (const double share : {0.35, 0.2, 0.5}) {
    const pid_t child = spawn(next, "");
    std::this_thread::sleep_for(std::chrono::duration<double>(share * took));
    ::kill(child, SIGKILL);
    if (wait(child) == 0) return how;
    how += formatted(", %.1f s", share * took);
  }
  finish(next);
  return how;
}

// Compares the files of both runs and prints their hashes; returns what differs, or "".
std::string Selftest::compare(int64_t steps) const {
  const std::string whole = folder_.path() + "/whole", stopped = folder_.path() + "/stopped";
  std::string text = "file\tbytes\tXXH3\n", differs;
  for (const char* kind : {"model", "state"}) {
    if (checkpoint_steps(whole, kind) != checkpoint_steps(stopped, kind))
      differs = "the two runs kept different checkpoints";
    for (const int64_t step : checkpoint_steps(whole, kind)) {
      const std::string name = checkpoint_file("", kind, step).substr(1);
      if (!file_exists(stopped + "/" + name)) continue;
      const MappedFile a(whole + "/" + name), b(stopped + "/" + name);
      const bool same = a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
      if (!same) differs = name + " differs";
      text += name + "\t" + std::to_string(b.size()) + "\t" + xxh3_hex(b.data(), size_t(b.size())) +
              "\n";
    }
  }
  if (checkpoint_steps(whole, "state").empty() || steps < 1) differs = "no checkpoint was written";
  print(text);
  return differs;
}

int Selftest::run(const Log& log) {
  log.info("self-test: reading the text, measuring the time of a step");
  const int64_t steps = choose_steps();
  log.info("self-test: " + std::to_string(steps) + " steps without interruption");
  const double start = steady_seconds();
  finish(begin("whole", steps));
  log.info("self-test: the same run, killed and resumed");
  const std::string how = stop_and_go(steps, steady_seconds() - start);
  const std::string differs = compare(steps);
  if (differs.empty()) {
    log.info("bit-identical after kill -9 at: " + how);
    return 0;
  }
  folder_.keep();
  log.error("NOT bit-identical after kill -9 at: " + how + "\n" + differs + "; compare the runs " +
            "whole and stopped in " + folder_.path());
  return 1;
}

}  // namespace

int selftest_resume(const TrainOptions& options, std::vector<std::string> arguments,
                    const Log& log) {
  const bool two = !options.one_text();
  if (options.src.empty() || (two && options.tgt.empty()))
    throw UsageError(std::string("--selftest-resume trains on your text: give --src FILE") +
                     (two ? " and --tgt FILE" : ""));
  try {
    return Selftest(options, std::move(arguments)).run(log);
  } catch (const Stopped& stopped) {
    log.error("stopped by signal " + signal_name(stopped.signal));
    return 128 + stopped.signal;
  }
}

}  // namespace tx
