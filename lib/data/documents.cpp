#include "lib/data/documents.h"

#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/subword/vocabulary.h"

namespace tx {

void TextTally::add(std::string_view line) {
  if (is_blank(line)) return;
  bool inside = false;
  for (const char c : line) {
    const bool space = c == ' ' || (c >= '\t' && c <= '\r');
    words += !space && !inside;
    inside = !space;
  }
  bytes += int64_t(line.size()) + 1;
}

void DocumentCutter::begin_document(int64_t line) {
  if (cross_ && documents_ > 0) ids_.insert(ids_.end(), {Vocabulary::eos, Vocabulary::bos});
  if (!cross_ || documents_ == 0) line_ = line;
  ++documents_;
  open_ = true;
}

void DocumentCutter::add_line(std::span<const int32_t> ids, int64_t line) {
  TX_ASSERT(context_ >= 2);
  if (ids.empty()) {
    empty_ += !blank_lines_;
    if (open_ && blank_lines_) end_sentences();
    return;
  }
  if (!open_) begin_document(line);
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  // Keeps the last sequence in ids_, because the next line may extend it.
  flush(size_t(context_ - 1));
  if (!blank_lines_) end_sentences();
}

void DocumentCutter::flush(size_t max) {
  size_t first = 0;
  for (; ids_.size() - first > max; first += max) {
    emit_(std::span(ids_).subspan(first, max), line_, continues_);
    continues_ = true;
  }
  ids_.erase(ids_.begin(), ids_.begin() + ptrdiff_t(first));
}

// Ends the current document.
void DocumentCutter::end_sentences() {
  open_ = false;
  if (cross_) return;
  if (!ids_.empty()) emit_(ids_, line_, continues_);
  ids_.clear();
  continues_ = false;
}

void DocumentCutter::end() {
  cross_ = false;
  end_sentences();
}

}  // namespace tx
