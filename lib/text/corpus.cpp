#include "lib/text/corpus.h"

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/utf8.h"

namespace tx {

namespace {

std::string name_of(const std::string& path) { return path == "-" ? "standard input" : path; }

std::vector<std::string> or_standard_input(std::vector<std::string> files) {
  if (files.empty()) files = {"-"};
  return files;
}

std::string names_of(const std::vector<std::string>& files) {
  std::string out;
  for (const std::string& file : or_standard_input(files))
    out += (out.empty() ? "" : " + ") + name_of(file);
  return out;
}

std::string text_of(const LineCount& count) {
  return count.name + (count.more ? " has more than " : " has ") + counted(count.lines, "line");
}

// `longer` has just returned its first line beyond the end of `shorter`.
[[noreturn]] void throw_counts_differ(const TextReader& shorter, const std::string& shorter_name,
                                      TextReader& longer, const std::string& longer_name) {
  const int64_t first = longer.line_number();
  throw DataError(counts_differ({shorter_name, shorter.line_number()},
                                count_to_end(longer, longer_name), first));
}

}  // namespace

TextReader::TextReader(std::vector<std::string> files, bool strict)
    : files_(std::move(files)), strict_(strict) {
  open_next();
}

bool TextReader::open_next() {
  if (starts_.size() == files_.size()) return false;
  reader_ = std::make_unique<LineReader>(files_[starts_.size()]);
  starts_.push_back({reader_->name(), lines_});
  return true;
}

bool TextReader::next(std::string& line) {
  while (reader_) {
    if (reader_->next(line)) {
      ++lines_;
      if (reader_->line_number() == 1 && reader_->began_with_mark()) count(mark_);
      inspect(line);
      return true;
    }
    if (!open_next()) reader_.reset();
  }
  return false;
}

bool TextReader::ready(int wait_ms) {
  while (reader_) {
    if (!reader_->ready(wait_ms)) return false;
    if (!reader_->ended() || !open_next()) return true;
  }
  return true;
}

void TextReader::count(Anomaly& anomaly) {
  if (anomaly.lines++ == 0) anomaly.first = lines_;
}

void TextReader::inspect(std::string& line) {
  replaced_ = repair_utf8(line);
  if (replaced_ > 0) {
    if (strict_)
      throw DataError(place(lines_) +
                      ": not valid UTF-8; repair it, or omit --strict to replace such bytes by "
                      "U+FFFD");
    count(invalid_utf8_);
  }
  if (line.find('\0') != line.npos) count(nul_);
  if (line.ends_with('\r')) count(carriage_return_);
}

std::string TextReader::place(int64_t line_number) const {
  TX_ASSERT(!starts_.empty());
  size_t i = starts_.size() - 1;
  while (i > 0 && starts_[i].lines_before >= line_number) --i;
  return starts_[i].name + ":" + std::to_string(line_number - starts_[i].lines_before);
}

LineCount TextReader::count_file(size_t file) {
  std::string line;
  while (starts_.size() == file + 1 && next(line)) continue;
  const int64_t end = starts_.size() > file + 1 ? starts_[file + 1].lines_before : lines_;
  return {starts_[file].name, end - starts_[file].lines_before};
}

std::vector<std::string> TextReader::warnings() const {
  std::vector<std::string> out;
  const auto warn = [&](const Anomaly& anomaly, const std::string& what) {
    if (anomaly.lines == 0) return;
    const std::string more = " (the first of " + std::to_string(anomaly.lines) + " such lines)";
    out.push_back(place(anomaly.first) + ": " + what + (anomaly.lines == 1 ? "" : more));
  };
  warn(mark_, "begins with a byte order mark, which is ignored");
  warn(invalid_utf8_, "not valid UTF-8; replaced by U+FFFD");
  warn(nul_, "has a NUL byte; is this a text file?");
  warn(carriage_return_,
       "ends with CR LF; the carriage return is kept as text: remove it with tr -d '\\r'");
  return out;
}

std::string counts_differ(const LineCount& shorter, const LineCount& longer, int64_t first,
                          const std::string& quoted) {
  return text_of(shorter) + ", " + text_of(longer) + ": line " + std::to_string(first) + " of " +
         longer.name + (quoted.empty() ? "" : " (" + quoted + ")") +
         " has no counterpart; give files with the same number of lines";
}

LinePairs::LinePairs(std::vector<std::string> files, const std::string& other, bool strict)
    : text_name_(names_of(files)),
      other_name_(name_of(other)),
      text_(or_standard_input(std::move(files)), strict) {
  if (other.empty()) return;
  other_ = std::make_unique<TextReader>(std::vector{other}, strict);
}

bool LinePairs::next(std::string& line, std::string& other) {
  const bool more = text_.next(line), more_other = other_ && other_->next(other);
  if (other_ && more && !more_other) throw_counts_differ(*other_, other_name_, text_, text_name_);
  if (more_other && !more) throw_counts_differ(text_, text_name_, *other_, other_name_);
  return more;
}

bool LinePairs::ready(int wait_ms) {
  return text_.ready(wait_ms) && (!other_ || other_->ready(wait_ms));
}

std::vector<std::string> LinePairs::warnings() const {
  std::vector<std::string> out = text_.warnings();
  if (!other_) return out;
  for (std::string& warning : other_->warnings()) out.push_back(std::move(warning));
  return out;
}

}  // namespace tx
