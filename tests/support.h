// For unit tests: a temporary directory that is removed at its end, and a child process.
#pragma once
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>

namespace tx_test {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tx-unit.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  // Creates the file and returns its path.
  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(*this / name, std::ios::binary) << bytes;
    return *this / name;
  }
  int entries() const {
    const std::filesystem::directory_iterator all(path_);
    return int(std::distance(begin(all), end(all)));
  }

 private:
  std::string path_;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The standard streams and exit status of a function that ran in a child process.
struct ChildResult {
  int status = 0;  // exit status, or 128 + signal
  std::string out, err;
};

// Runs f in a forked child whose streams are files in a temporary folder; stdout_path replaces the
// one of standard output ("" keeps it, "closed" closes the descriptor).
inline ChildResult run_in_child(const std::function<int()>& f,
                                const std::string& stdout_path = "") {
  const TempFolder folder;
  const std::string out = stdout_path.empty() ? folder / "out" : stdout_path;
  const std::string err = folder / "err";
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int err_fd = open(err.c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(err_fd, 2);
    if (out == "closed") {
      close(1);
    } else {
      const int out_fd = open(out.c_str(), O_WRONLY | O_CREAT, 0600);
      dup2(out_fd, 1);
      close(out_fd);
    }
    close(err_fd);
    _exit(f());
  }
  ChildResult result;
  waitpid(child, &result.status, 0);
  result.status =
      WIFSIGNALED(result.status) ? 128 + WTERMSIG(result.status) : WEXITSTATUS(result.status);
  if (stdout_path.empty()) result.out = bytes_of(out);
  result.err = bytes_of(err);
  return result;
}

// The message of the exception of type E that f must throw; "" when it throws nothing.
template <class E>
std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "";
}

}  // namespace tx_test
