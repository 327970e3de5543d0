// Tokens as a list of words, of models whose text other programs cut and join.
#pragma once
#include <string>
#include <vector>

namespace tx {

// The bytes of the vocabulary (lib/subword/words.h) of these tokens, in our order; the first four
// get the names that every list of words has. A token that is no word becomes <row-ID>, one that
// stands there twice gets "_" behind it.
std::string word_list(const std::vector<std::string>& tokens);

}  // namespace tx
