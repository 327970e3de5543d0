#include "lib/eval/corpus.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/utf8.h"

namespace tx {
namespace {

// One file of the corpus, and what was wrong with its text.
class TextFile {
 public:
  TextFile(const std::string& path, bool strict) : reader_(path), strict_(strict) {}

  bool next(std::string& line) {
    if (!reader_.next(line)) return false;
    const int64_t invalid = repair_utf8(line);
    if (invalid > 0) note_invalid(invalid);
    return true;
  }

  int64_t count_to_end() {
    std::string line;
    while (reader_.next(line)) {
    }
    return reader_.line_number();
  }

  void warn(const Log& log) const {
    if (invalid_ == 0) return;
    log.warn(name() + ": " + std::to_string(invalid_) +
             (invalid_ == 1 ? " invalid UTF-8 sequence" : " invalid UTF-8 sequences") +
             " replaced by U+FFFD, the first in line " + std::to_string(first_invalid_));
  }

  const std::string& name() const { return reader_.name(); }
  int64_t line_number() const { return reader_.line_number(); }

 private:
  void note_invalid(int64_t count) {
    if (strict_) {
      throw DataError(name() + " line " + std::to_string(line_number()) +
                      ": invalid UTF-8; convert the file, or leave out --strict to have such bytes "
                      "replaced");
    }
    if (invalid_ == 0) first_invalid_ = line_number();
    invalid_ += count;
  }

  LineReader reader_;
  bool strict_;
  int64_t invalid_ = 0, first_invalid_ = 0;
};

std::string lines(int64_t count) {
  return std::to_string(count) + (count == 1 ? " line" : " lines");
}

// The beginning of a line, for a message.
std::string quoted(const std::string& line) {
  constexpr size_t longest = 40;
  size_t end = std::min(line.size(), longest);
  while (end < line.size() && end > 0 && (uint8_t(line[end]) & 0xC0) == 0x80) --end;
  std::string text = "\"";
  for (const char c : line.substr(0, end)) text.push_back(uint8_t(c) < 0x20 ? ' ' : c);
  return text + (end < line.size() ? "...\"" : "\"");
}

// `longer` has just given `line`, its first beyond the end of `shorter`.
[[noreturn]] void throw_counts_differ(TextFile& shorter, TextFile& longer,
                                      const std::string& line) {
  const int64_t first = longer.line_number();
  throw DataError(shorter.name() + " has " + lines(shorter.line_number()) + ", " + longer.name() +
                  " has " + lines(longer.count_to_end()) + ": line " + std::to_string(first) +
                  " of " + longer.name() + " (" + quoted(line) +
                  ") has no counterpart; give files whose lines belong together");
}

void check_names(const CorpusFiles& files) {
  const auto standard_inputs = std::count(files.references.begin(), files.references.end(), "-") +
                               (files.hypotheses == "-" ? 1 : 0);
  if (files.references.empty()) throw UsageError("no reference file is given");
  if (standard_inputs > 1) {
    throw UsageError(
        "standard input can be only one of the files; name the hypotheses with -i FILE");
  }
}

}  // namespace

int64_t for_each_segment(const CorpusFiles& files, const Log& log, const SegmentFunction& f) {
  check_names(files);
  TextFile hypotheses(files.hypotheses, files.strict);
  std::vector<TextFile> references;
  for (const std::string& path : files.references) references.emplace_back(path, files.strict);

  std::string hypothesis;
  std::vector<std::string> reference(references.size());
  for (bool more = true; more;) {
    more = hypotheses.next(hypothesis);
    for (size_t i = 0; i < references.size(); ++i) {
      const bool has_line = references[i].next(reference[i]);
      if (more && !has_line) throw_counts_differ(references[i], hypotheses, hypothesis);
      if (!more && has_line) throw_counts_differ(hypotheses, references[i], reference[i]);
    }
    if (more) f(hypothesis, reference);
  }
  hypotheses.warn(log);
  for (const TextFile& file : references) file.warn(log);
  return hypotheses.line_number();
}

Score score_corpus(Metric& metric, const CorpusFiles& files, const Log& log) {
  Statistics sums(metric.size(), 0.0);
  const int64_t segments = for_each_segment(
      files, log, [&](const std::string& hypothesis, std::span<const std::string> references) {
        metric.add(hypothesis, references, sums);
      });
  if (segments == 0) throw DataError("nothing to score: all files are empty");
  return metric.score(sums, int(files.references.size()));
}

}  // namespace tx
