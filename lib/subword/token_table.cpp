#include "lib/subword/token_table.h"

#include <charconv>

#include "lib/base/utf8.h"

namespace tx {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

std::string with_spaces(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with(space_sign)) {
      out += ' ';
      at += space_sign.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

// Appends bytes; each that is not part of a valid character becomes U+FFFD.
void append_bytes(std::string& text, std::string_view bytes) {
  if (count_invalid_utf8(bytes) == 0) {
    text += bytes;
    return;
  }
  for (size_t at = 0; at < bytes.size();) {
    size_t length = 1;
    while (length <= 4 && at + length <= bytes.size() &&
           count_invalid_utf8(bytes.substr(at, length)) > 0)
      ++length;
    const bool valid = length <= 4 && at + length <= bytes.size();
    text += valid ? bytes.substr(at, length) : replacement;
    at += valid ? length : 1;
  }
}

}  // namespace

void TokenTable::add(std::string text, Kind kind, float score) {
  Entry entry{text, with_spaces(text), kind, 0, score};
  if (kind == Kind::byte && text.size() == 6) {
    unsigned value = 0;
    std::from_chars(text.data() + 3, text.data() + text.size() - 1, value, 16);
    entry.byte = char(value);
    byte_ids_[value & 0xFF] = size();
  }
  ids_.emplace(std::move(text), size());
  entries_.push_back(std::move(entry));
}

int TokenTable::id_of(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? -1 : found->second;
}

std::optional<std::string> TokenTable::join(std::span<const int> ids) const {
  std::string text, bytes;
  bool begun = false;
  for (const int id : ids) {
    const Entry& entry = entries_[size_t(id)];
    if (entry.kind == Kind::unknown) return {};
    if (entry.kind == Kind::byte) {
      bytes += entry.byte;
      continue;
    }
    append_bytes(text, bytes);
    bytes.clear();
    if (entry.kind == Kind::control) continue;
    const bool prefix = !begun && text.empty() && entry.text.starts_with(space_sign);
    text.append(entry.surface, prefix ? 1 : 0);
    begun = begun || prefix;
  }
  append_bytes(text, bytes);
  return text;
}

}  // namespace tx
