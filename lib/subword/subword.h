// The one door to SentencePiece: subword models by byte-pair encoding with byte fallback.
//
// decode(encode(x)) == x for every line of valid UTF-8: normalisation is the identity (with
// any other, what it changes does not come back), white space is kept as it
// is, and U+2581, SentencePiece's own sign for the space, is carried as its three byte tokens
// (SentencePiece alone would return it as a space). Of a model with sentinels (sentinels.h) a space
// in front of one is not a token, and comes back whether it was there or not.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "lib/subword/vocabulary.h"
#include "lib/subword/word_count.h"

namespace tx {

struct SubwordTraining {
  int vocab_size = 8000;                   // an upper bound: a small text has fewer tokens
  double character_coverage = 0.9995;      // share of the text's characters that become tokens
  std::vector<std::string> user_symbols;   // tokens that always stand alone, as checked below
  bool split_digits = false;               // each digit 0 to 9 is a token of its own
  std::string normalization = "identity";  // or nfkc, nmt_nfkc
};

// One symbol per line. An empty line, white space, U+2581 or U+2585 (SentencePiece's own), the
// name of a special or byte token, a symbol given twice: DataError with the place.
std::vector<std::string> read_user_symbols(const std::string& path);

// Trains a model and returns the bytes of its .model file. They depend on the counts and the
// options alone, not on a path, the number of threads or the order of lines. Fewer tokens than
// asked for is not an error: compare size(). A vocab_size below what the characters need is a
// UsageError that names the least.
std::string train_subword(const WordCounts& counts, const SubwordTraining& options);

// A .model file, ours or a foreign one (unigram, other normalisation) whose special ids are ours.
std::unique_ptr<Vocabulary> parse_subword(std::string bytes, const std::string& where);

}  // namespace tx
