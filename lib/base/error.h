// Errors. Library code throws; only run_tool() (lib/cli) catches, prints one line and turns the
// kind into the exit status: UsageError 2 (nothing was begun), everything else 1. Compiles under
// nvcc.
#pragma once
#include <stdexcept>
#include <string>

namespace tx {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The command line is wrong or asks for the impossible; the message says what to type instead.
struct UsageError : Error {
  using Error::Error;
};

// Input data is unusable: the message names the file, the line where there is one, and what to do.
struct DataError : Error {
  using Error::Error;
};

// A system call failed. `verb` completes "cannot ...": IoError("read", path, errno) gives
// "cannot read PATH: No such file or directory"; `detail`, where there is one, follows in brackets.
struct IoError : Error {
  IoError(const std::string& verb, const std::string& path, int error_number,
          const std::string& detail = "");
  int error_number;
};

// A condition that our own code must guarantee does not hold.
struct Bug : Error {
  Bug(const char* condition, const char* file, int line);
};

}  // namespace tx

#define TX_ASSERT(condition) \
  ((condition) ? (void)0 : throw ::tx::Bug(#condition, __FILE__, __LINE__))
