// The text of a language model as documents, and how they are cut into what is read at once. A
// document is a line, or lines up to a blank one; its tokens follow one another, lines of it as if
// a space stood between them.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace tx {

struct DocumentOptions {
  int context = 0;           // rows of a sentence, <bos> counted; 0: the text is no documents
  bool blank_lines = false;  // a blank line ends a document; else every line is one
  bool cross = false;        // sentences go on across ends of documents
};

// What a text holds of what a reader sees.
struct TextTally {
  int64_t words = 0;  // parted by white space
  int64_t bytes = 0;  // of lines that are not blank, ends of lines included
  void add(std::string_view line);
};

// Cuts documents into sentences of up to context - 1 tokens. With `cross` all documents are one,
// and <eos> <bos> stands between two of them.
class DocumentCutter {
 public:
  // A sentence: its tokens (at least one), the line where its document begins, and whether it goes
  // on the document of the sentence before.
  using Emit = std::function<void(std::span<const int32_t> ids, int64_t line, bool continues)>;
  DocumentCutter(const DocumentOptions& options, Emit emit)
      : options_(options), emit_(std::move(emit)) {}

  void add_line(std::span<const int32_t> ids, int64_t line);
  void end();  // of the text
  int64_t documents() const { return documents_; }
  int64_t empty() const { return empty_; }  // blank lines that would be documents

 private:
  void begin_document(int64_t line);
  void flush(size_t max);
  void end_sentences();

  DocumentOptions options_;
  Emit emit_;
  std::vector<int32_t> ids_;  // not yet emitted
  int64_t line_ = 0, documents_ = 0, empty_ = 0;
  bool open_ = false;       // a document has begun and may go on
  bool continues_ = false;  // a sentence of it has been emitted
};

}  // namespace tx
