// Parsing a line: into sentences, or into links of a word alignment.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace tx {

// The sentences of a line of valid UTF-8, without the white space between them; the line itself if
// there is only one. A sentence ends in . ! ? or an ellipsis, optionally closing quotes and
// brackets, followed by white space (not a no-break space) and, after any punctuation, anything but
// a lower-case letter. A full stop after a single letter or after digits does not end a sentence;
// one between spaces, as in tokenised text, does before any letter. After Greek letters a semicolon
// is a question mark. Marks of other scripts, such as those of Hindi and Chinese, need no space.
std::vector<std::string_view> split_sentences(std::string_view line);

// A link of a word alignment: positions of words from 0.
struct WordLink {
  uint32_t source = 0, target = 0;
  bool sure = true;
  auto operator<=>(const WordLink&) const = default;
};

// The links of a sentence pair in Pharaoh's format, "0-0 1-2 1?3": SOURCE-TARGET, or ? or p instead
// of - for a possible link. In the order of the line. DataError that quotes the field otherwise.
std::vector<WordLink> parse_links(std::string_view line);

}  // namespace tx
