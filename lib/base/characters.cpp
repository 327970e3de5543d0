#include "lib/base/characters.h"

#include <algorithm>
#include <iterator>

namespace tx {

namespace {

constexpr auto N = CharacterClass::number, P = CharacterClass::punctuation,
               S = CharacterClass::symbol;

struct Range {
  char32_t first, last;
  CharacterClass characters;
};

constexpr Range ranges[] = {
#include "lib/base/unicode_categories.inc"
};

}  // namespace

CharacterClass class_of(char32_t c) {
  const auto* range = std::lower_bound(std::begin(ranges), std::end(ranges), c,
                                       [](const Range& r, char32_t x) { return r.last < x; });
  return range != std::end(ranges) && range->first <= c ? range->characters : CharacterClass::other;
}

}  // namespace tx
