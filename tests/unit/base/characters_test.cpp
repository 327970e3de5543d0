#include "lib/base/characters.h"

#include <boost/test/unit_test.hpp>

using namespace tx;

BOOST_AUTO_TEST_CASE(classes_of_characters) {
  for (const char32_t c : {U'.', U',', U'-', U'“', U'¿', U'。', U'_', U'%'})
    BOOST_TEST((class_of(c) == CharacterClass::punctuation));
  for (const char32_t c : {U'0', U'½', U'٣'}) BOOST_TEST((class_of(c) == CharacterClass::number));
  for (const char32_t c : {U'+', U'€', U'☃'}) BOOST_TEST((class_of(c) == CharacterClass::symbol));
  for (const char32_t c : {U'a', U' ', U'字', char32_t(0x10FFFF)})
    BOOST_TEST((class_of(c) == CharacterClass::other));
}
