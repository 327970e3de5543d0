// time_lines N COMMAND [ARG]... < TEXT: measures the latency of a filter. Starts COMMAND and sends
// it up to N lines of TEXT, each 3 ms after the answer to the previous one. Prints the time from
// the start to the first answer, and the median and 99th percentile of the latency of the other
// lines.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/error.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds idle(3), patience(60000);

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void check(bool good, const char* verb) {
  if (!good) throw tx::IoError(verb, "the filter", errno);
}

class Filter {
 public:
  explicit Filter(char** command) {
    int to[2], from[2];
    check(::pipe(to) == 0 && ::pipe(from) == 0, "make pipes for");
    child_ = ::fork();
    check(child_ >= 0, "start");
    if (child_ == 0) {
      ::dup2(to[0], 0);
      ::dup2(from[1], 1);
      for (const int fd : {to[0], to[1], from[0], from[1]}) ::close(fd);
      ::execvp(command[0], command);
      std::perror(command[0]);
      std::_Exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    in_ = to[1], out_ = from[0];
  }
  void send(const std::string& line) {
    check(::write(in_, line.data(), line.size()) == ssize_t(line.size()), "write to");
  }
  void wait_for_line() {
    pollfd ready{out_, POLLIN, 0};
    for (char last = 0; last != '\n';) {
      check(::poll(&ready, 1, int(patience.count())) == 1, "wait for");
      char text[65536];
      const ssize_t count = ::read(out_, text, sizeof text);
      if (count == 0) throw tx::Error("the filter ended without an answer");
      check(count > 0, "read from");
      last = text[count - 1];
    }
  }
  // Closes its input and returns its exit status.
  int end() {
    ::close(in_);
    int status = 0;
    check(::waitpid(child_, &status, 0) == child_, "wait for");
    ::close(out_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }

 private:
  pid_t child_ = -1;
  int in_ = -1, out_ = -1;
};

int run(size_t max, char** command) {
  std::vector<std::string> lines;
  for (std::string line; lines.size() < max && std::getline(std::cin, line);)
    if (!line.empty() && line.size() < 4000) lines.push_back(line + "\n");  // fits into a pipe
  if (lines.size() < 2) throw tx::UsageError("time_lines needs two lines on standard input");
  const auto start = Clock::now();
  Filter filter(command);
  filter.send(lines.front());
  filter.wait_for_line();
  const double first = milliseconds_since(start);
  std::vector<double> spent;
  for (size_t i = 1; i < lines.size(); ++i) {
    std::this_thread::sleep_for(idle);
    const auto sent = Clock::now();
    filter.send(lines[i]);
    filter.wait_for_line();
    spent.push_back(milliseconds_since(sent));
  }
  std::sort(spent.begin(), spent.end());
  std::printf(
      "start to the first answer %.0f ms; %zu lines one by one: median %.2f ms, "
      "99th percentile %.2f ms\n",
      first, spent.size(), spent[spent.size() / 2], spent[(spent.size() - 1) * 99 / 100]);
  return filter.end();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) throw tx::UsageError("usage: time_lines N COMMAND [ARG]... < TEXT");
  return run(size_t(std::max(2, std::atoi(argv[1]))), argv + 2);
} catch (const std::exception& error) {
  std::fprintf(stderr, "time_lines: %s\n", error.what());
  return 1;
}
