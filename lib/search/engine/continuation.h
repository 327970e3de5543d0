// The output of a language model as text: the continuation of a prompt, up to a stop string.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "lib/subword/vocabulary.h"

namespace tx {

// The text of `ids` after `prompt`, with its line feeds, and with a leading space if it begins a
// word: prompt + continuation is the whole text. repeats: as in TokenHypothesis.
std::string continuation_text(const Vocabulary& vocabulary, std::span<const int> prompt,
                              std::span<const int> ids, size_t repeats);

std::string one_line(std::string text);  // with spaces instead of line feeds

// The text before the first stop string.
std::string before_stop(std::string text, const std::vector<std::string>& stops);
bool holds_stop(const std::string& text, const std::vector<std::string>& stops);

// What can no longer change of a growing text: no U+FFFD at the end, no beginning of a stop.
std::string settled(std::string text, const std::vector<std::string>& stops);

}  // namespace tx
