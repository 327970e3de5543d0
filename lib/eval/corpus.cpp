#include "lib/eval/corpus.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/io.h"
#include "lib/base/utf8.h"
#include "lib/eval/tokenizers/unicode.h"
#include "lib/text/corpus.h"

namespace tx {

// One file of the corpus, and anomalies of its text.
class SegmentReader::TextFile {
 public:
  TextFile(const std::string& path, bool strict, const MakeForm& form)
      : reader_(path), strict_(strict), form_(form ? form() : nullptr) {}

  bool next(std::string& segment) {
    const bool found = form_ ? form_->next(lines_, segment) : next_line(segment);
    segments_ += found ? 1 : 0;
    return found;
  }

  std::optional<bool> counts_from_zero() const {
    return form_ ? form_->counts_from_zero() : std::nullopt;
  }
  bool open_ended() const { return form_ && form_->open_ended(); }
  bool ready(int wait_ms) { return reader_.ready(wait_ms); }

  void warn(const Log& log) const {
    if (reader_.began_with_mark())
      log.warn(name() + " begins with a byte order mark, which is ignored");
    if (invalid_ == 0) return;
    log.warn(name() + ": " + std::to_string(invalid_) +
             (invalid_ == 1 ? " invalid UTF-8 sequence" : " invalid UTF-8 sequences") +
             " replaced by U+FFFD, the first in line " + std::to_string(first_invalid_));
  }

  const std::string& name() const { return reader_.name(); }
  int64_t line_number() const { return segments_; }

 private:
  bool next_line(std::string& line) {
    if (!reader_.next(line)) return false;
    const int64_t invalid = repair_utf8(line);
    if (invalid > 0) note_invalid(invalid);
    return true;
  }

  std::string place() const { return name() + " line " + std::to_string(reader_.line_number()); }

  void note_invalid(int64_t count) {
    if (strict_)
      throw DataError(
          place() +
          ": invalid UTF-8; convert the file, or omit --strict to replace such bytes by "
          "U+FFFD");
    if (invalid_ == 0) first_invalid_ = reader_.line_number();
    invalid_ += count;
  }

  LineReader reader_;
  bool strict_;
  std::unique_ptr<SegmentForm> form_;  // null: a line is a segment
  SegmentForm::Lines lines_{[this](std::string& line) { return next_line(line); },
                            [this] { return place(); }};
  int64_t segments_ = 0, invalid_ = 0, first_invalid_ = 0;
};

namespace {

// The beginning of a line, for a message.
std::string quoted(const std::string& line) {
  constexpr size_t max_bytes = 40;
  size_t end = std::min(line.size(), max_bytes);
  while (end < line.size() && end > 0 && is_continuation(line[end])) --end;
  std::string text = "\"";
  for (const char c : line.substr(0, end)) text.push_back(uint8_t(c) < 0x20 ? ' ' : c);
  return text + (end < line.size() ? "...\"" : "\"");
}

// `longer` has just returned `line`, its first segment beyond the end of `shorter`.
template <class File>
[[noreturn]] void throw_counts_differ(File& shorter, File& longer, const std::string& line) {
  const int64_t first = longer.line_number();
  if (longer.open_ended())
    throw DataError(longer.name() + " has a sentence " + std::to_string(first) + ", " +
                    shorter.name() + " has " + counted(shorter.line_number(), "line") +
                    "; give files with the same sentences");
  throw DataError(counts_differ({shorter.name(), shorter.line_number()},
                                count_to_end(longer, longer.name()), first, quoted(line)));
}

void check_names(const CorpusFiles& files) {
  if (files.references.empty()) throw UsageError("no reference file is given");
  if (files.tab_references > 1 && files.references.size() > 1)
    throw UsageError(
        "--num-refs needs a single file of references: give one file, or omit --num-refs");
}

}  // namespace

SegmentReader::SegmentReader(const CorpusFiles& files, const MakeForm& form) : files_(files) {
  check_names(files);
  const auto open = [&](const std::string& path) {
    return std::make_unique<TextFile>(path, files.strict, form);
  };
  for (const std::string& path : files.hypotheses()) systems_.push_back(open(path));
  for (const std::string& path : files.references) references_.push_back(open(path));
}

SegmentReader::~SegmentReader() = default;

bool SegmentReader::next(Segment& segment) {
  segment.hypotheses.resize(systems_.size());
  segment.references.resize(references_.size());
  std::vector<TextFile*> ended;
  TextFile* longest = nullptr;
  const std::string* line = nullptr;
  const auto read = [&](TextFile& file, std::string& text) {
    if (!file.next(text)) {
      text.clear();
      ended.push_back(&file);
    } else if (longest == nullptr) {
      longest = &file;
      line = &text;
    }
  };
  for (size_t i = 0; i < systems_.size(); ++i) read(*systems_[i], segment.hypotheses[i]);
  for (size_t i = 0; i < references_.size(); ++i) read(*references_[i], segment.references[i]);
  if (longest == nullptr) return false;
  for (TextFile* file : ended)
    if (!file->open_ended()) throw_counts_differ(*file, *longest, *line);
  ++segments_;
  if (files_.tab_references > 1) split_references(segment.references);
  // As sacreBLEU reads lines: only the last reference of a line loses the space at its end.
  for (std::string& text : segment.hypotheses) text.resize(strip_right(text).size());
  for (size_t i = 0; i < segment.references.size(); ++i)
    if (files_.tab_references == 1 || i + 1 == segment.references.size())
      segment.references[i].resize(strip_right(segment.references[i]).size());
  if (files_.skip_empty) drop_empty(segment.references);
  return true;
}

void SegmentReader::split_references(std::vector<std::string>& references) const {
  const std::string line = references.front();
  const auto wanted = size_t(files_.tab_references);
  references.clear();
  size_t begin = 0;
  while (references.size() + 1 < wanted) {
    const size_t tab = line.find('\t', begin);
    if (tab == std::string::npos)
      throw DataError(references_.front()->name() + " line " + std::to_string(segments_) + " has " +
                      std::to_string(references.size() + 1) + " of " + std::to_string(wanted) +
                      " references separated by tabs; write an empty field where one is missing");
    references.push_back(line.substr(begin, tab - begin));
    begin = tab + 1;
  }
  references.push_back(line.substr(begin));
}

void SegmentReader::drop_empty(std::vector<std::string>& references) const {
  std::erase_if(references, [](const std::string& text) { return strip_right(text).empty(); });
  if (references.empty())
    throw DataError(references_.front()->name() + " line " + std::to_string(segments_) +
                    " has no reference; remove this segment from all files");
}

const std::string& SegmentReader::name(size_t system) const { return systems_[system]->name(); }
const std::string& SegmentReader::reference_name() const { return references_.front()->name(); }

void SegmentReader::warn(const Log& log) const {
  for (const auto& file : systems_) file->warn(log);
  for (const auto& file : references_) file->warn(log);
  for (const auto& file : systems_) {
    const auto system = file->counts_from_zero(), reference = references_[0]->counts_from_zero();
    if (!system || !reference || *system == *reference) continue;
    const TextFile &from_one = *system ? *references_[0] : *file,
                   &from_zero = *system ? *file : *references_[0];
    log.warn("no link of " + from_one.name() + " has a word 0, but links of " + from_zero.name() +
             " have: words are counted from 0; if the first counts from 1, subtract 1");
  }
}

}  // namespace tx
