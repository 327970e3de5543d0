// The end of a text that an output continues. It can lie inside a word, whose tokens depend on what
// follows: the search chooses them.
#pragma once
#include <string_view>

#include "lib/search/engine/translator.h"
#include "lib/search/rules/token_texts.h"

namespace tx {

// Given the tokens of `text` in source.prefix, moves the last word to source.rest; in scripts
// without spaces, the last 64 bytes or so. If white space follows the last word, it is complete,
// and only the space before the next word is left open. A last word that the vocabulary cannot
// write stays in source.prefix.
void open_prefix(std::string_view text, const TokenTexts& texts, Source& source);

// The same for the prompt of a language model, whose tokens are in source.ids: sets source.open to
// those of the last word, unless the prompt ends in a mark, or source.rest if it ends in a space.
void open_prompt(std::string_view text, const Translator& translator, Source& source);

}  // namespace tx
