#include "lib/train/valid_command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <vector>

#include "lib/base/error.h"
#include "lib/train/signals.h"

namespace tx {

namespace {

// What a child process is given; released at the end of its scope.
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
    sigaddset(&defaults, SIGPIPE);  // ignored here, but "... | head" in the command relies on it
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

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, size_t(got));
  }
}

}  // namespace

std::optional<double> first_number(const std::string& text) {
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at != end; ++at) {
    double value = 0;
    if (*at != '-' && *at != '.' && !std::isdigit(static_cast<unsigned char>(*at))) continue;
    const bool in_word = at != text.data() && std::isalnum(static_cast<unsigned char>(at[-1]));
    if (in_word) continue;  // the 2 of chrF2
    if (*at == '-' && at + 1 != end && std::isalpha(static_cast<unsigned char>(at[1]))) continue;
    const auto [stop, error] = std::from_chars(at, end, value);
    if (error == std::errc() && std::isfinite(value)) return value;
    if (stop != at) return std::nullopt;  // out of range
  }
  return std::nullopt;
}

std::optional<double> run_valid_command(const std::string& command, const std::string& model,
                                        const Log& log) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw IoError("run", command, errno);
  pid_t child = 0;
  try {
    child = spawn_shell(command, model, ends[1]);
  } catch (...) {
    ::close(ends[0]);
    ::close(ends[1]);
    throw;
  }
  const ChildWatch watch(child);
  ::close(ends[1]);
  const std::string text = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  std::string trouble;
  if (WIFSIGNALED(status))
    trouble = "was ended by signal " + std::to_string(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    trouble = "ended with status " + std::to_string(WEXITSTATUS(status));
  const std::optional<double> score = first_number(text);
  if (trouble.empty() && score) return score;
  log.warn("--valid-command " + (trouble.empty() ? "printed no number" : trouble) +
           "; this checkpoint has no score");
  return std::nullopt;
}

}  // namespace tx
