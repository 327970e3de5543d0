// Hypotheses and references in files: one segment per line, unless a metric defines another form.
// All files are read in parallel, in constant memory.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/log.h"

namespace tx {

struct CorpusFiles {
  std::vector<std::string> systems;     // one file of hypotheses each; none: standard input
  std::vector<std::string> references;  // at least one
  // References per line of the single file of references, separated by tabs. 1: tabs are text.
  int tab_references = 1;
  // Ignore empty references (or white space) instead of treating them as text without words.
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

// Makes segments of a file's lines if a line is not a segment; one object for each file.
class SegmentForm {
 public:
  // The remaining lines, and "FILE line N" of the last one.
  struct Lines {
    std::function<bool(std::string& line)> next;
    std::function<std::string()> place;
  };
  virtual ~SegmentForm() = default;
  // The next segment; false at the end. Throws DataError with the place.
  virtual bool next(const Lines& lines, std::string& segment) = 0;
  // Whether the file may omit segments at its end, which are then empty.
  virtual bool open_ended() const = 0;
  // Whether something had the number 0 so far; nothing if there were no numbers.
  virtual std::optional<bool> counts_from_zero() const = 0;
};
using MakeForm = std::function<std::unique_ptr<SegmentForm>()>;

class SegmentReader {
 public:
  // Throws IoError; UsageError if two files are standard input.
  explicit SegmentReader(const CorpusFiles& files, const MakeForm& form = {});
  ~SegmentReader();

  // The next segment; false at the end. Ill-formed UTF-8 becomes U+FFFD. DataError if the files
  // have different numbers of segments, or lines different numbers of references.
  bool next(Segment& segment);
  int64_t segments() const { return segments_; }
  // The file of hypotheses, for messages.
  const std::string& name(size_t system) const;
  const std::string& reference_name() const;
  // Warns about byte order marks, ill-formed UTF-8, and files that count differently, so far.
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
