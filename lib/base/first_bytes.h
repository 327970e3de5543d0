// What the first bytes of a file say about the text in it.
#pragma once
#include <string>
#include <string_view>

namespace tx {

enum class FirstBytes {
  too_few,  // ask again with more
  plain,
  mark,  // U+FEFF, the byte order mark of UTF-8: three bytes that are not part of the text
};

// `begin`: the file from its first byte on; whole: there are no more. Throws DataError that begins
// with `name` for what is not read: text compressed by xz, zstd or bzip2, or in UTF-16 or UTF-32.
// The message names the command that turns it into text.
FirstBytes look_at_first_bytes(std::string_view begin, bool whole, const std::string& name);

}  // namespace tx
