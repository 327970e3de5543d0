// Word alignments as text, in Pharaoh's form: a line holds the links of a sentence pair.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace tx {

// Numbers of words from 0.
struct WordLink {
  uint32_t source = 0, target = 0;
  bool sure = true;
  auto operator<=>(const WordLink&) const = default;
};

// "0-0 1-2 1?3", SOURCE-TARGET; with ? or p in place of - the link is a possible one. In the order
// of the line. DataError, which quotes the field, for anything else.
std::vector<WordLink> parse_links(std::string_view line);

}  // namespace tx
