// The end of a text that an output continues. It can lie inside a word, whose tokens depend on what
// follows: the search chooses them.
#pragma once
#include <string_view>

#include "lib/search/rules/token_texts.h"
#include "lib/search/source.h"

namespace tx {

// Given the tokens of `text` in source.prefix, moves the last word to source.rest; in scripts
// without spaces, the last 64 bytes or so. If white space follows the last word, it is complete,
// and only the space before the next word is left open. A last word that the vocabulary cannot
// write stays in source.prefix.
void open_prefix(std::string_view text, const TokenTexts& texts, Source& source);

}  // namespace tx
