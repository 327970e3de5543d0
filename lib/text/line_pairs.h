// A text, and optionally a second one whose line n belongs to line n of the first.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "lib/text/corpus.h"

namespace tx {

struct LineCount {
  std::string name;
  int64_t lines = 0;
  bool more = false;  // than those
};

// The message for texts whose lines should correspond and do not: `first` is the line of `longer`
// that has no counterpart, `quoted` its beginning; empty: it is not shown.
std::string counts_differ(const LineCount& shorter, const LineCount& longer, int64_t first,
                          const std::string& quoted = "");

// Reads on to count a text's lines, for a second at most: a pipe may have no end.
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

class LinePairs {
 public:
  // files: as those of TextReader; none: standard input. beside: "" for the text alone.
  explicit LinePairs(std::vector<std::string> files, const std::string& beside = "",
                     bool strict = false);
  // UsageError: standard input would have to be both.
  static void check(const std::vector<std::string>& files, const std::string& beside);

  // The next line of each, `other` empty where there is one text; false at the end. DataError where
  // one text ends before the other: it gives both numbers of lines.
  bool next(std::string& line, std::string& other);
  bool ready(int wait_ms = 0);  // next() need not wait for either; waits so long for each
  TextReader& text() { return text_; }
  const TextReader& text() const { return text_; }
  const TextReader* other() const { return other_.get(); }  // null where there is one text
  std::vector<std::string> warnings() const;                // of both

 private:
  std::string text_name_, other_name_;
  TextReader text_;
  std::unique_ptr<TextReader> other_;
};

}  // namespace tx
