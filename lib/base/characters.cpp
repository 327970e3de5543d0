#include "lib/base/characters.h"

#include <algorithm>
#include <iterator>

namespace tx {

namespace {

constexpr auto N = CharacterClass::number, P = CharacterClass::punctuation,
               S = CharacterClass::symbol;

struct ClassRange {
  char32_t first, last;
  CharacterClass characters;
};

constexpr ClassRange class_ranges[] = {
#include "lib/base/unicode_categories.inc"
};

}  // namespace

CharacterClass class_of(char32_t c) {
  const auto* range = std::lower_bound(std::begin(class_ranges), std::end(class_ranges), c,
                                       [](const ClassRange& r, char32_t x) { return r.last < x; });
  return range != std::end(class_ranges) && range->first <= c ? range->characters
                                                              : CharacterClass::other;
}

}  // namespace tx
