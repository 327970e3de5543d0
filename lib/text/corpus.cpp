#include "lib/text/corpus.h"

#include "lib/base/error.h"
#include "lib/base/utf8.h"

namespace tx {

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

void TextReader::count(Oddity& oddity) {
  if (oddity.lines++ == 0) oddity.first = lines_;
}

void TextReader::inspect(std::string& line) {
  replaced_ = repair_utf8(line);
  if (replaced_ > 0) {
    if (strict_) {
      throw DataError(place(lines_) +
                      ": not valid UTF-8; repair it, or leave out --strict to have "
                      "such bytes replaced by U+FFFD");
    }
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

std::vector<std::string> TextReader::warnings() const {
  std::vector<std::string> out;
  const auto say = [&](const Oddity& oddity, const std::string& what) {
    if (oddity.lines == 0) return;
    const std::string more = " (the first of " + std::to_string(oddity.lines) + " such lines)";
    out.push_back(place(oddity.first) + ": " + what + (oddity.lines == 1 ? "" : more));
  };
  say(mark_, "begins with a byte order mark; left out");
  say(invalid_utf8_, "not valid UTF-8; replaced by U+FFFD");
  say(nul_, "has a NUL byte; is this a text file?");
  say(carriage_return_, "ends with CR LF; the CR counts as text");
  return out;
}

}  // namespace tx
