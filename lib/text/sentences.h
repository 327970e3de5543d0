// Where a line of several sentences comes apart.
#pragma once
#include <string_view>
#include <vector>

namespace tx {

// The sentences of a line of valid UTF-8, without the white space between them. A sentence ends in
// . ! ? or an ellipsis, with closing quotes and brackets, before a space and no small letter; a
// full stop behind a single letter or behind digits alone ends none, and one with a space on either
// side, as in tokenised text, ends one before any letter. The full stops and marks of Chinese and
// Japanese need no space. The line itself where it does not come apart.
std::vector<std::string_view> split_sentences(std::string_view line);

}  // namespace tx
