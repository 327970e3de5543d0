// The SentencePiece vocabulary of a decoder in a folder of Hugging Face: tokenizer.model has the
// pieces and their ids; more rows of the embedding belong to pieces that were added later, or none.
#pragma once
#include <memory>
#include <string>

#include "lib/convert/families/family.h"
#include "lib/convert/families/pieces.h"

namespace tx {

struct DecoderPieces {
  PieceOrder order;  // of as many pieces as the embedding has rows; bos is a piece of theirs
  std::shared_ptr<const Vocabulary> vocabulary;
};

// `rows` of the embedding. tx wants a piece of its own for pad; a model that has none gives the
// byte 0 away, which no text holds, or a row that no piece uses. DataError where there is no
// tokenizer.model, where it has more pieces than there are rows, or where texts do not begin with
// one bos and end with one eos.
DecoderPieces read_decoder_pieces(const std::string& folder, const FamilyConfig& config,
                                  int64_t rows);

// The text of a row that no piece uses.
std::string unnamed_row(int64_t id);

}  // namespace tx
