// A text and, where there is one, a second beside it whose line n belongs to line n of the first.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "lib/text/corpus.h"

namespace tx {

struct LineCount {
  std::string name;
  int64_t lines = 0;
};

// What DataError says of texts that belong together line by line and do not: `first` is the line of
// `longer` that stands alone, `quoted` its beginning where that is to be shown.
std::string counts_differ(const LineCount& shorter, const LineCount& longer, int64_t first,
                          const std::string& quoted = "");

class LinePairs {
 public:
  // files: as those of TextReader; none: standard input. beside: "" for the text alone.
  explicit LinePairs(std::vector<std::string> files, const std::string& beside = "",
                     bool strict = false);
  // UsageError where standard input would have to be both.
  static void check(const std::vector<std::string>& files, const std::string& beside);

  // The next line of each, `other` empty where there is one text; false at the end. DataError where
  // one text ends before the other: it tells both numbers of lines.
  bool next(std::string& line, std::string& other);
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
