#include "lib/text/corpus.h"

#include "lib/base/error.h"
#include "lib/base/utf8.h"

namespace tx {

TextReader::TextReader(std::vector<std::string> files) : files_(std::move(files)) { open_next(); }

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
      return true;
    }
    if (!open_next()) reader_.reset();
  }
  return false;
}

bool TextReader::ready(int wait_ms) { return !reader_ || reader_->ready(wait_ms); }

std::string TextReader::place(int64_t line_number) const {
  TX_ASSERT(!starts_.empty());
  size_t i = starts_.size() - 1;
  while (i > 0 && starts_[i].lines_before >= line_number) --i;
  return starts_[i].name + ":" + std::to_string(line_number - starts_[i].lines_before);
}

void Oddity::count(int64_t line_number) {
  if (lines++ == 0) first = line_number;
}

unsigned inspect_line(std::string& line) {
  unsigned bits = 0;
  if (repair_utf8(line) > 0) bits |= odd_utf8;
  if (line.find('\0') != line.npos) bits |= odd_nul;
  if (line.ends_with('\r')) bits |= odd_carriage_return;
  return bits;
}

void count_oddities(TextOddities& counts, unsigned bits, int64_t line_number) {
  if (bits & odd_utf8) counts.invalid_utf8.count(line_number);
  if (bits & odd_nul) counts.nul.count(line_number);
  if (bits & odd_carriage_return) counts.carriage_return.count(line_number);
}

std::vector<std::string> describe_oddities(const TextOddities& counts, const TextReader& reader) {
  std::vector<std::string> out;
  const auto say = [&](const Oddity& oddity, const std::string& what) {
    if (oddity.lines == 0) return;
    out.push_back(reader.place(oddity.first) + ": " + what +
                  (oddity.lines == 1
                       ? ""
                       : " (the first of " + std::to_string(oddity.lines) + " such lines)"));
  };
  say(counts.invalid_utf8, "not valid UTF-8; replaced by U+FFFD");
  say(counts.nul, "has a NUL byte; is this a text file?");
  say(counts.carriage_return, "ends with CR LF; the CR counts as text");
  return out;
}

void refuse_invalid_utf8(const std::string& place) {
  throw DataError(place + ": not valid UTF-8 (without --strict it would be replaced by U+FFFD)");
}

}  // namespace tx
