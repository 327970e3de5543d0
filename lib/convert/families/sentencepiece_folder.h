// The SentencePiece vocabulary of a decoder in a folder of Hugging Face: tokenizer.model has the
// tokens and their ids; more rows of the embedding belong to tokens that were added later, or none.
#pragma once
#include <memory>
#include <string>

#include "lib/convert/families/family.h"
#include "lib/convert/families/pieces.h"

namespace tx {

struct DecoderTokens {
  TokenOrder order;  // of as many tokens as the embedding has rows; bos is a token of theirs
  std::shared_ptr<const Vocabulary> vocabulary;
};

// `rows` of the embedding. tx wants a token of its own for pad; a model that has none gives the
// byte 0 away, which no text holds, or a row that no token uses. DataError where there is no
// tokenizer.model, where it has more tokens than there are rows, or where texts do not begin with
// one bos and end with one eos.
DecoderTokens read_decoder_tokens(const std::string& folder, const FamilyConfig& config,
                                  int64_t rows);

// The text of a row that no token uses.
std::string unnamed_row(int64_t id);

}  // namespace tx
