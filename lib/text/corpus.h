// Text as it comes: one or more files read one after another as one text.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/io.h"

namespace tx {

// How many lines have an oddity of one kind, and the number of the first (0: none).
struct Oddity {
  int64_t lines = 0, first = 0;
};

// Gives lines of valid UTF-8. "-" is standard input; each file is opened when its turn comes and
// read once, so FIFOs and gzip files work. Ill-formed UTF-8 is replaced by U+FFFD and counted, or a
// DataError that names the line when `strict`.
class TextReader {
 public:
  explicit TextReader(std::vector<std::string> files, bool strict = false);
  bool next(std::string& line);                   // as LineReader::next()
  bool ready(int wait_ms = 0);                    // as LineReader::ready()
  int64_t line_number() const { return lines_; }  // of the last line, from 1, over all files
  int64_t replaced() const { return replaced_; }  // ill-formed sequences of the last line
  // "FILE:LINE" of a line number over all files that has been read.
  std::string place(int64_t line_number) const;
  // What was odd so far: a byte order mark, ill-formed UTF-8, NUL bytes, CR LF. One message per
  // kind, which begins with the place of the first such line.
  std::vector<std::string> warnings() const;

 private:
  struct Start {
    std::string name;
    int64_t lines_before;
  };
  bool open_next();
  void inspect(std::string& line);
  void count(Oddity& oddity);  // the line at hand

  std::vector<std::string> files_;
  std::vector<Start> starts_;
  std::unique_ptr<LineReader> reader_;
  int64_t lines_ = 0, replaced_ = 0;
  bool strict_;
  Oddity mark_, invalid_utf8_, nul_, carriage_return_;
};

}  // namespace tx
