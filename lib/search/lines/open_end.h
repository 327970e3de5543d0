// The end of a text that an output continues: the search chooses the tokens of an open word.
#pragma once
#include <string_view>

#include "lib/search/engine/translator.h"
#include "lib/search/rules/token_texts.h"

namespace tx {

// Moves the last word of `text`, whose tokens are in source.prefix, to source.rest; in scripts
// without spaces, the last 64 bytes or so. After white space only the space before the next word is
// left open. A last word that the vocabulary cannot write stays in source.prefix.
void open_prefix(std::string_view text, const TokenTexts& texts, Source& source);

// The same for the prompt of a language model, whose tokens are in source.ids: sets
// source.open_tokens to those of the last word, unless a mark ends the prompt, and source.rest if a
// space does.
void open_prompt(std::string_view text, const Translator& translator, Source& source);

}  // namespace tx
