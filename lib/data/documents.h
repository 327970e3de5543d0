// Documents of a language model's text, cut into sequences of the model's context. A document is a
// line, or consecutive lines up to a blank one, joined as if by spaces.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace tx {

// Size of a text in units that do not depend on the vocabulary.
struct TextTally {
  int64_t words = 0;  // separated by white space
  int64_t bytes = 0;  // of lines that are not blank, with newlines
  void add(std::string_view line);
};

// Cuts documents into sequences of up to context - 1 tokens.
class DocumentCutter {
 public:
  // A sequence: its tokens, its document's line, and whether it continues the previous one's.
  using Emit = std::function<void(std::span<const int32_t> ids, int64_t line, bool continues)>;
  // The options are those of a cache, with a context.
  DocumentCutter(int context, bool blank_lines, bool cross, Emit emit)
      : context_(context), blank_lines_(blank_lines), cross_(cross), emit_(std::move(emit)) {}

  void add_line(std::span<const int32_t> ids, int64_t line);
  void end();  // at the end of the text
  int64_t documents() const { return documents_; }
  int64_t empty() const { return empty_; }  // blank lines, where every line is a document

 private:
  void begin_document(int64_t line);
  void flush(size_t max);
  void end_sentences();

  int context_;
  bool blank_lines_, cross_;
  Emit emit_;
  std::vector<int32_t> ids_;  // not yet emitted
  int64_t line_ = 0, documents_ = 0, empty_ = 0;
  bool open_ = false;       // inside a document
  bool continues_ = false;  // part of the document was emitted
};

}  // namespace tx
