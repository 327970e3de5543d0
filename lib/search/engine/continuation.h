// The output of a language model as text: what follows a prompt, and where strings end it.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "lib/subword/vocabulary.h"

namespace tx {

// What the text of prompt and ids has beyond that of the prompt: with the space in front where a
// word begins, so that text and continuation can be joined as they are.
std::string continuation_text(const Vocabulary& vocabulary, std::span<const int> prompt,
                              std::span<const int> ids);

// The text before the first of the strings.
std::string before_stop(std::string text, const std::vector<std::string>& stops);
bool holds_stop(const std::string& text, const std::vector<std::string>& stops);

// As much of a text that is still growing as will stay: without an incomplete character (U+FFFD at
// the end), nor what may be the beginning of one of the strings.
std::string settled(std::string text, const std::vector<std::string>& stops);

}  // namespace tx
