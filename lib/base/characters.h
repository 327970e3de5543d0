// What Unicode says of characters.
#pragma once
#include <cstdint>

namespace tx {

enum class CharacterClass : uint8_t { other, number, punctuation, symbol };  // categories N, P, S
CharacterClass class_of(char32_t c);

}  // namespace tx
