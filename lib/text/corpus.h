// Text as it comes: one or more files read one after another as one text, and what is odd in it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/io.h"

namespace tx {

// Reads files one after another as if they were one; "-" is standard input. Each is opened when its
// turn comes and read once, so FIFOs and gzip files work.
class TextReader {
 public:
  explicit TextReader(std::vector<std::string> files);
  bool next(std::string& line);                   // as LineReader::next()
  bool ready(int wait_ms = 0);                    // as LineReader::ready()
  int64_t line_number() const { return lines_; }  // of the last line, from 1, over all files
  // "FILE:LINE" of a line number over all files that has been read.
  std::string place(int64_t line_number) const;

 private:
  struct Start {
    std::string name;
    int64_t lines_before;
  };
  bool open_next();

  std::vector<std::string> files_;
  std::vector<Start> starts_;
  std::unique_ptr<LineReader> reader_;
  int64_t lines_ = 0;
};

// Lines with one kind of oddity: how many, and the first (0: none).
struct Oddity {
  int64_t lines = 0, first = 0;
  void count(int64_t line_number);
};

struct TextOddities {
  Oddity invalid_utf8;     // ill-formed UTF-8, replaced by U+FFFD
  Oddity nul;              // a NUL byte inside
  Oddity carriage_return;  // CR at the end: a file with CR LF line ends
};

// Repairs ill-formed UTF-8 in place and tells what was odd, as bits of OddityBits.
enum OddityBits : unsigned { odd_utf8 = 1, odd_nul = 2, odd_carriage_return = 4 };
unsigned inspect_line(std::string& line);
void count_oddities(TextOddities& counts, unsigned bits, int64_t line_number);

// One warning a kind, each with its number of lines and the place of the first.
std::vector<std::string> describe_oddities(const TextOddities& counts, const TextReader& reader);

// What --strict answers to a line whose bits hold odd_utf8; `place` as TextReader::place() gives
// it.
[[noreturn]] void refuse_invalid_utf8(const std::string& place);

}  // namespace tx
