// The tokens of M2M-100 and NLLB: those of sentencepiece.bpe.model, in the numbers of vocab.json
// (M2M-100) or one higher than there (NLLB), then the languages and what else the tokeniser's files
// add, then rows without a token.
#pragma once
#include "lib/convert/families/family.h"
#include "lib/convert/families/pieces.h"

namespace tx {

struct MultilingualTokens {
  TokenOrder order;  // of as many tokens as the embedding has rows
  Vocabularies vocabularies;
};

// DataError: a file is missing, says what cannot be, or lists no language; more tokens than rows.
MultilingualTokens read_multilingual_tokens(const std::string& folder, const FamilyConfig& config);

}  // namespace tx
