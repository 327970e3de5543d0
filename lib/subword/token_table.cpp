#include "lib/subword/token_table.h"

#include <algorithm>
#include <charconv>

#include "lib/base/split.h"
#include "lib/base/utf8.h"

namespace tx {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

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

size_t TokenTable::slot_of(std::string_view text) const {
  const size_t last = slots_.size() - 1;
  size_t at = std::hash<std::string_view>()(text) & last;
  while (slots_[at] >= 0 && this->text(slots_[at]) != text) at = (at + 1) & last;
  return at;
}

void TokenTable::grow() {
  slots_.assign(std::max<size_t>(1024, 2 * slots_.size()), -1);
  for (int id = 0; id < size(); ++id) {
    int& slot = slots_[slot_of(text(id))];
    if (slot < 0) slot = id;
  }
}

void TokenTable::add(std::string_view text, Kind kind, float score) {
  const bool same = text.find(space_sign) == text.npos;
  std::string surface(same ? "" : text);
  replace_all(surface, space_sign, " ");
  Entry entry{.begin = characters_.size(),
              .size = uint32_t(text.size()),
              .surface_size = uint32_t(same ? text.size() : surface.size()),
              .score = score,
              .kind = kind,
              .byte = 0,
              .same = same};
  if (kind == Kind::byte && text.size() == 6) {
    unsigned value = 0;
    std::from_chars(text.data() + 3, text.data() + text.size() - 1, value, 16);
    entry.byte = char(value);
    byte_ids_[value & 0xFF] = size();
  }
  characters_ += text;
  characters_ += surface;
  if (2 * entries_.size() >= slots_.size()) grow();
  int& slot = slots_[slot_of(text)];
  if (slot < 0) slot = size();
  entries_.push_back(entry);
}

int TokenTable::id_of(std::string_view text) const {
  return slots_.empty() ? -1 : slots_[slot_of(text)];
}

std::string TokenTable::bytes(int id) const {
  const Entry& entry = entries_[size_t(id)];
  if (entry.kind == Kind::byte) return {entry.byte};
  if (entry.kind == Kind::control || entry.kind == Kind::unknown) return "";
  return std::string(surface(entry));
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
    const bool prefix = !begun && text.empty() && this->text(id).starts_with(space_sign);
    text += surface(entry).substr(prefix ? 1 : 0);
    begun = begun || prefix;
  }
  append_bytes(text, bytes);
  return text;
}

}  // namespace tx
