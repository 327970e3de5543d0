// Hypotheses and references in files: one segment per line, unless a metric has another form; the
// n-th segments of all files belong together. Files are read side by side, so memory does not grow
// with them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/log.h"

namespace tx {

struct CorpusFiles {
  std::vector<std::string> systems;     // a file of hypotheses each; none: standard input
  std::vector<std::string> references;  // at least one
  // References per line of the one file of references, separated by tabs; what follows the last of
  // these tabs belongs to the last. 1: tabs are text.
  int tab_references = 1;
  // An empty reference (or one of white space) is left out, instead of being a text without words.
  bool skip_empty = false;
  bool strict = false;  // invalid UTF-8 is an error, not replaced with a warning

  std::vector<std::string> hypotheses() const {
    return systems.empty() ? std::vector<std::string>{"-"} : systems;
  }
};

struct Segment {
  std::vector<std::string> hypotheses;  // of each system
  std::vector<std::string> references;
};

// Makes segments of a file's lines where a line is not a segment; one object for each file.
class SegmentForm {
 public:
  // The lines that are left, and "FILE line N" of the last one.
  struct Lines {
    std::function<bool(std::string& line)> next;
    std::function<std::string()> place;
  };
  virtual ~SegmentForm() = default;
  // The next segment; false behind the last. Throws DataError that names the place.
  virtual bool next(const Lines& lines, std::string& segment) = 0;
  // Whether the file may leave out segments at its end, which then are empty.
  virtual bool open_ended() const = 0;
};
using MakeForm = std::function<std::unique_ptr<SegmentForm>()>;

class SegmentReader {
 public:
  // Throws IoError, and UsageError where two of the files are standard input.
  explicit SegmentReader(const CorpusFiles& files, const MakeForm& form = {});
  ~SegmentReader();

  // The next segment; false at the end. Ill-formed UTF-8 becomes U+FFFD. Throws DataError where the
  // files differ in their number of segments, or a line in its number of references.
  bool next(Segment& segment);
  int64_t segments() const { return segments_; }
  // The file of hypotheses as messages name it.
  const std::string& name(size_t system) const;
  const std::string& reference_name() const;
  // What was odd in the text so far: ill-formed UTF-8.
  void warn(const Log& log) const;

 private:
  class TextFile;
  void split_references(std::vector<std::string>& references) const;
  void drop_empty(std::vector<std::string>& references) const;

  CorpusFiles files_;
  std::vector<std::unique_ptr<TextFile>> systems_, references_;
  int64_t segments_ = 0;
};

}  // namespace tx
