#include "lib/train/run/valid_command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/json.h"
#include "lib/base/split.h"
#include "lib/base/utf8.h"
#include "lib/train/run/signals.h"

namespace tx {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t max_output = 1 << 16;  // bytes
constexpr size_t max_shown = 200;       // bytes in a message
constexpr auto tick = std::chrono::milliseconds(100), grace = std::chrono::milliseconds(1000);

// Attributes of posix_spawn(), released at the end of their scope.
struct Start {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;

  explicit Start(int output) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, 1);
    posix_spawnattr_init(&attributes);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);  // tx-train ignores it, but "... | head" relies on it
    sigaddset(&defaults, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Start() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;
};

pid_t spawn_shell(const std::string& command, const std::string& model, int output) {
  std::vector<std::string> texts;
  for (char** entry = environ; *entry; ++entry)
    if (std::strncmp(*entry, "MODEL=", 6) != 0) texts.push_back(*entry);
  texts.push_back("MODEL=" + model);
  std::vector<char*> environment;
  for (std::string& text : texts) environment.push_back(text.data());
  environment.push_back(nullptr);
  std::string shell = "sh", option = "-c", line = command;
  char* const arguments[] = {shell.data(), option.data(), line.data(), nullptr};
  const Start start(output);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, "/bin/sh", &start.files, &start.attributes, arguments,
                                  environment.data());
  if (error != 0) throw IoError("run", "/bin/sh", error);
  return child;
}

// The running shell and its output.
class Child {
 public:
  Child(const std::string& command, const std::string& model) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw IoError("run", command, errno);
    output_ = ends[0];
    try {
      id_ = spawn_shell(command, model, ends[1]);
    } catch (...) {
      ::close(ends[0]);
      ::close(ends[1]);
      throw;
    }
    ::close(ends[1]);
  }
  ~Child() {
    ::close(output_);
    if (running()) end();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t id() const { return id_; }
  const std::string& text() const { return text_; }
  int status() const { return status_; }

  // Waits for a tick at most; true when the shell, if not its background processes, has exited.
  bool done() {
    pollfd ready{output_, POLLIN, 0};
    if (!open_)
      std::this_thread::sleep_for(tick / 10);
    else if (::poll(&ready, 1, int(tick.count())) > 0)
      return read(), false;
    if (running()) return false;
    while (open_ && text_.size() <= max_output && ::poll(&ready, 1, 0) > 0) read();  // the rest
    return true;
  }
  bool running() {
    if (ended_) return false;
    const pid_t got = ::waitpid(id_, &status_, WNOHANG);
    ended_ = got == id_ || (got < 0 && errno != EINTR);
    return !ended_;
  }
  // TERM to the process group, KILL after the grace period.
  void end() {
    ::kill(-id_, SIGTERM);
    for (const auto until = Clock::now() + grace; Clock::now() < until;) {
      if (!running() && ::kill(-id_, 0) != 0) return;
      std::this_thread::sleep_for(tick / 10);
    }
    ::kill(-id_, SIGKILL);
    while (!ended_ && ::waitpid(id_, &status_, 0) < 0 && errno == EINTR) continue;
    ended_ = true;
  }

 private:
  void read() {
    char buffer[4096];
    const ssize_t got = ::read(output_, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) return;
    if (got > 0)
      text_.append(buffer, size_t(got));
    else
      open_ = false;
  }

  pid_t id_ = 0;
  int output_ = -1, status_ = 0;
  bool open_ = true, ended_ = false;
  std::string text_;
};

// The whole of `text` as a finite number.
std::optional<double> whole_number(std::string_view text) {
  double value = 0;
  const bool whole = parse_number(text, value);
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

constexpr std::string_view lower_is_better_metric = "TER";

// "BLEU|nrefs:1|...|version:2.6.0 = 27.3 60.1/..."
std::optional<double> score_of_line(std::string_view line) {
  constexpr std::string_view begin = "|nrefs:", equals = " = ";
  const size_t name = line.find('|'), at = line.find(equals);
  if (line.find('\n') != line.npos || name == line.npos || at == line.npos || at < name ||
      line.substr(name, begin.size()) != begin || line.substr(0, name) == lower_is_better_metric)
    return std::nullopt;
  line.remove_prefix(at + equals.size());
  return whole_number(line.substr(0, line.find(' ')));
}

std::optional<double> score_of_json(std::string_view text) {
  Json json;
  try {
    json = parse_json(text, "");
  } catch (const DataError&) {
    return std::nullopt;
  }
  if (!json.contains("score") || !json["score"].is_number()) return std::nullopt;
  if (json.value("name", Json()) == lower_is_better_metric) return std::nullopt;
  const double score = json["score"].get<double>();
  return std::isfinite(score) ? std::optional(score) : std::nullopt;
}

// The output, quoted and shortened for a message.
std::string shown(const std::string& text) {
  if (trimmed(text).empty()) return "nothing";
  const std::string_view kept = trimmed(text).substr(0, max_shown);
  return to_text(Json(std::string(kept))) + (trimmed(text).size() > kept.size() ? " ..." : "");
}

[[noreturn]] void refuse(const std::string& text) {
  throw DataError("--valid-command printed " + shown(text) +
                  "; it must print one number, or what tx-bleu prints for one metric (higher is "
                  "better)");
}

// Why the command failed; "" if it did not.
std::string trouble(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return "failed with status " + std::to_string(WEXITSTATUS(status));
  return "";
}

}  // namespace

std::optional<double> parse_score(const std::string& text) {
  const std::string_view line = trimmed(text);
  if (line.empty()) return std::nullopt;
  if (line.front() == '{') return score_of_json(line);
  const std::optional<double> number = whole_number(line);
  return number ? number : score_of_line(line);
}

CommandScore run_valid_command(const ValidCommand& command, const std::string& model,
                               const Log& log) {
  const auto begin = Clock::now();
  Child child(command.command, model);
  const ChildWatch watch(child.id());
  std::string what;
  while (!child.done()) {
    const double took = std::chrono::duration<double>(Clock::now() - begin).count();
    if (command.stop()) {
      command.ending();
      child.end();
      return {std::nullopt, true};
    }
    if (child.text().size() > max_output) {
      child.end();
      refuse(child.text());
    }
    if (command.timeout <= 0 || took < command.timeout) continue;
    child.end();
    what = formatted("took longer than --valid-timeout %.6g", command.timeout);
    break;
  }
  if (what.empty()) what = trouble(child.status());
  if (what.empty()) {
    const std::optional<double> score = parse_score(child.text());
    if (!score) refuse(child.text());
    return {score, false};
  }
  log.warn("--valid-command " + what + "; this checkpoint has no score");
  return {};
}

}  // namespace tx
