// Errors. The library throws; only run_tool() (lib/cli) catches, prints one line and exits with
// status 2 for a UsageError (nothing was started) and 1 for any other error. Compiles under nvcc.
#pragma once
#include <stdexcept>
#include <string>

namespace tx {

// A message is one line: printable(). `more`, if given, follows on lines of its own.
struct Error : std::runtime_error {
  explicit Error(const std::string& message);
  Error(const std::string& message, const std::string& more);
};

// The command line is wrong; the message says what to type instead.
struct UsageError : Error {
  using Error::Error;
};

// Input data is unusable: the message names the file, the line if there is one, and what to do.
struct DataError : Error {
  using Error::Error;
};

// A system call failed. `verb` completes "cannot ...": IoError("read", path, errno) gives
// "cannot read PATH: No such file or directory"; `detail`, if not empty, follows in parentheses.
struct IoError : Error {
  IoError(const std::string& verb, const std::string& path, int error_number,
          const std::string& detail = "");
  int error_number;
};

// A failed assertion about our own code.
struct Bug : Error {
  Bug(const char* condition, const char* file, int line);
};

}  // namespace tx

#define TX_ASSERT(condition) \
  ((condition) ? (void)0 : throw ::tx::Bug(#condition, __FILE__, __LINE__))
