// Vocabularies: text to ids and back. Two kinds share one interface: subword models (SentencePiece,
// lib/subword/subword.h) and plain words (lib/subword/words.h). Ids 0 to 3 are the same in both.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/subword/merge_dropout.h"

namespace tx {

class Vocabulary {
 public:
  static constexpr int pad = 0, unk = 1, bos = 2, eos = 3;
  static constexpr int specials = 4;

  virtual ~Vocabulary() = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  virtual std::string kind() const = 0;  // "sentencepiece" or "words"
  virtual int size() const = 0;
  // Ids of one line of valid UTF-8 without '\n'; <bos> and <eos> are not added. Replaces `ids`.
  // Safe to call from several threads.
  virtual void encode(std::string_view line, std::vector<int>& ids) const = 0;
  // Whether encode() takes draws: byte-pair encoding with byte fallback.
  virtual bool has_merges() const { return false; }
  // encode() with BPE-dropout: `draws` are those of this line. A Bug where has_merges() is false.
  virtual void encode(std::string_view line, MergeDraws& draws, std::vector<int>& ids) const;
  // From here on encode() gives only those of its tokens that are listed, single characters, bytes
  // and user symbols; a token left out is split into others. Not safe while another thread encodes.
  // A UsageError for a list of words.
  virtual void restrict_to(const std::vector<std::string>& tokens);
  // The score of a token: those of a higher score are merged earlier. No value in a list of words.
  virtual std::optional<float> score(int id) const;
  // Whether the token stands for one byte of a character without a token.
  virtual bool is_byte(int id) const;
  // One line of valid UTF-8: a byte token <0x0A> becomes a space, broken byte sequences U+FFFD;
  // pad, bos and eos are left out. Ids outside [0, size) are a DataError. Thread-safe as encode()
  // is.
  virtual std::string decode(std::span<const int> ids) const = 0;
  // The text of a token; in vocabularies made by tx it holds no space and no control character, so
  // that tokens joined by spaces can be taken apart again. Outside [0, size): DataError.
  virtual std::string token(int id) const = 0;
  // The id of a token's text, -1 when there is no such token.
  virtual int id_of(std::string_view token) const = 0;

  std::vector<std::string> tokens(std::span<const int> ids) const;
  // The file's content: what a model file stores, what parse_vocabulary() takes back.
  const std::string& bytes() const { return bytes_; }
  std::string hash() const;  // XXH3 of bytes(), 16 hexadecimal digits

 protected:
  explicit Vocabulary(std::string bytes) : bytes_(std::move(bytes)) {}
  void check_id(int id) const;

 private:
  std::string bytes_;
};

// Reads a vocabulary of either kind, told apart by content. Damaged bytes, or a subword model whose
// special ids are not ours, are a DataError that begins with `where` (the file's name).
std::unique_ptr<Vocabulary> load_vocabulary(const std::string& path);
std::unique_ptr<Vocabulary> parse_vocabulary(std::string bytes, const std::string& where);

// UsageError where has_merges() is false; `option` is what asks for BPE-dropout.
void check_has_merges(const Vocabulary& vocabulary, const std::string& option);

// The warning for a user who asked for `wanted` entries and got fewer; empty otherwise.
std::vector<std::string> describe_shortfall(const Vocabulary& vocabulary, int wanted);

}  // namespace tx
