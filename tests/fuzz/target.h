// A fuzz target: one reader of tx reads untrusted bytes. Each tests/fuzz/NAME_fuzz.cpp defines the
// two functions below; libfuzzer.cpp passes them to libFuzzer, replay.cpp runs them in the ordinary
// test suite on the seeds and thousands of changed seeds.
//
// A reader may refuse bytes with a DataError, an IoError or a UsageError. Everything else is a
// finding: a Bug, std::bad_alloc, another exception, a report of a sanitizer, a crash.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tx_fuzz {

std::vector<std::string> seeds();  // small inputs that are accepted, made in code
void run(std::string_view bytes);  // may throw what a reader may

// Runs once and catches what a reader may throw.
void run_guarded(std::string_view bytes);

// A file in memory with the bytes of the last fill(); path() opens it like any other file.
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  const std::string& path() const { return path_; }
  const std::string& fill(std::string_view bytes);  // returns path()
  std::string content() const;

 private:
  int fd_;
  std::string path_;
};

// What must hold for any input; a violation is a finding.
void require(bool holds, const char* what);

}  // namespace tx_fuzz
