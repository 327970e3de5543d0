// Subword models: byte-pair encoding with byte fallback by SentencePiece. decode(encode(x)) == x
// for every line of valid UTF-8: normalisation is the identity, white space is kept, and U+2581,
// SentencePiece's sign for the space, is encoded as its three byte tokens. In a model with
// sentinels (lib/subword/vocabulary.h) the space before a sentinel is not a token; decode() always
// writes one.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/subword/vocabulary.h"
#include "lib/subword/words.h"

namespace tx {

struct SubwordTraining {
  int vocab_size = 8000;                   // an upper bound: a small text yields fewer tokens
  double character_coverage = 0.9995;      // fraction of the text's characters that become tokens
  std::vector<std::string> user_symbols;   // tokens that are never merged or split
  bool split_digits = false;               // each digit 0 to 9 is a separate token
  std::string normalization = "identity";  // or nfkc, nmt_nfkc
};

// One symbol per line. DataError with the place for an empty line, white space, U+2581 or U+2585
// (used by SentencePiece), the name of a special or byte token, or a repeated symbol.
std::vector<std::string> read_user_symbols(const std::string& path);

// What is wrong with a symbol, or "".
std::string fault_of_symbol(std::string_view symbol);

// Trains a model and returns the bytes of its .model file, which depend only on the counts and the
// options. The model may have fewer tokens than vocab_size. A vocab_size that is too small for the
// characters of the text is a UsageError that names the minimum.
std::string train_subword(const WordCounts& counts, const SubwordTraining& options);

// A .model file of tx or of SentencePiece with the special ids of tx.
std::unique_ptr<Vocabulary> parse_subword(std::string bytes, const std::string& where);

// A piece of a SentencePiece model.
struct ListedPiece {
  std::string text;
  bool control = false;  // <s>, <unk> etc., without text
  bool byte = false;     // <0x00> etc.
};

// Any SentencePiece model as a tokenizer, as spm_encode, with any special ids. No decoding.
class PieceSplitter {
 public:
  // `bytes` of a .model file; throws DataError that begins with `where` (the file's name).
  PieceSplitter(const std::string& bytes, const std::string& where);
  ~PieceSplitter();
  // Replaces `pieces` by those of a line of valid UTF-8.
  void split(std::string_view line, std::vector<std::string>& pieces) const;
  std::vector<ListedPiece> tokens() const;  // in the order of their ids
  int unk() const;                          // its id
  const std::string& hash() const;          // XXH3 of the bytes, 16 hexadecimal digits

 private:
  struct Model;
  std::unique_ptr<Model> model_;
};

}  // namespace tx
