// The one door to SentencePiece: subword models by byte-pair encoding with byte fallback.
//
// decode(encode(x)) == x for every line of valid UTF-8: normalisation is the identity, white space
// is kept as it is, and U+2581, SentencePiece's own sign for the space, is carried as its three
// byte pieces (SentencePiece alone would return it as a space).
#pragma once
#include <memory>
#include <string>

#include "lib/text/vocabulary.h"
#include "lib/text/word_count.h"

namespace tx {

struct SubwordTraining {
  int vocab_size = 8000;               // an upper bound: a small text has fewer pieces
  double character_coverage = 0.9995;  // share of the text's characters that become pieces
};

// Trains a model and returns the bytes of its .model file. They depend on the counts and the
// options alone: no path, thread count or order of lines enters. Fewer pieces than asked for is no
// error: compare size(). A vocab_size below what the characters need is a UsageError that names the
// least.
std::string train_subword(const WordCounts& counts, const SubwordTraining& options);

// A .model file, ours or a foreign one (unigram, other normalisation) whose special ids are ours.
std::unique_ptr<Vocabulary> parse_subword(std::string bytes, const std::string& where);

}  // namespace tx
