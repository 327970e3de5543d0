// Reading text line by line: one or more files as one text, and two texts whose lines correspond.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/io.h"

namespace tx {

// How many lines have an anomaly of one kind, and the number of the first (0: none).
struct Anomaly {
  int64_t lines = 0, first = 0;
};

struct LineCount {
  std::string name;
  int64_t lines = 0;
  bool more = false;  // the text has more lines than this
};

// Returns lines of valid UTF-8. "-" is standard input; each file is opened when the previous one
// ends and read once, so FIFOs and gzip files work. Ill-formed UTF-8 is replaced by U+FFFD and
// counted; with `strict` it is a DataError that names the line.
class TextReader {
 public:
  explicit TextReader(std::vector<std::string> files, bool strict = false);
  bool next(std::string& line);                   // as LineReader::next()
  bool ready(int wait_ms = 0);                    // as LineReader::ready()
  int64_t line_number() const { return lines_; }  // of the last line, from 1, over all files
  bool strict() const { return strict_; }
  int64_t replaced() const { return replaced_; }  // ill-formed sequences in the last line
  // "FILE:LINE" of the line with this number over all files, which must have been read.
  std::string place(int64_t line_number) const;
  size_t files_begun() const { return starts_.size(); }
  LineCount count_file(size_t file);  // of one that has begun; reads it to its end
  // One message for each kind of anomaly so far, with the place of the first such line: byte order
  // marks, ill-formed UTF-8, NUL bytes, CR LF.
  std::vector<std::string> warnings() const;

 private:
  struct Start {
    std::string name;
    int64_t lines_before;
  };
  bool open_next();
  void inspect(std::string& line);
  void count(Anomaly& anomaly);  // in the last line

  std::vector<std::string> files_;
  std::vector<Start> starts_;
  std::unique_ptr<LineReader> reader_;
  int64_t lines_ = 0, replaced_ = 0;
  bool strict_;
  Anomaly mark_, invalid_utf8_, nul_, carriage_return_;
};

// The message for texts that should have the same number of lines: `first` is the line of `longer`
// that has no counterpart, `quoted` its beginning, not shown if empty.
std::string counts_differ(const LineCount& shorter, const LineCount& longer, int64_t first,
                          const std::string& quoted = "");

// Reads a text to its end to count its lines, for at most a second, since a pipe may never end.
template <class Reader>
LineCount count_to_end(Reader& reader, const std::string& name) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::seconds(1);
  std::string line;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0 || !reader.ready(int(left))) return {name, reader.line_number(), true};
    if (!reader.next(line)) return {name, reader.line_number(), false};
  }
}

// A text, and optionally a second text whose line n belongs to line n of the first.
class LinePairs {
 public:
  // files: as for TextReader; none: standard input. other: a file, or "" for one text only.
  explicit LinePairs(std::vector<std::string> files, const std::string& other = "",
                     bool strict = false);

  // The next line of each text; `other` stays empty if there is only one. False at the end.
  // DataError with both numbers of lines if one text is shorter.
  bool next(std::string& line, std::string& other);
  bool ready(int wait_ms = 0);  // whether next() would not wait; waits up to wait_ms for each text
  TextReader& text() { return text_; }
  const TextReader& text() const { return text_; }
  const TextReader* other() const { return other_.get(); }  // null if there is only one text
  std::vector<std::string> warnings() const;                // of both

 private:
  std::string text_name_, other_name_;
  TextReader text_;
  std::unique_ptr<TextReader> other_;
};

}  // namespace tx
