#include "lib/search/rules/utf8_guard.h"

#include <cstdio>

namespace tx {

Utf8Guard::Utf8Guard(const Vocabulary& vocabulary) : byte_of_(size_t(vocabulary.size()), -1) {
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", byte);
    const int id = vocabulary.id_of(text);
    if (id < 0 || !vocabulary.is_byte(id)) continue;
    byte_of_[size_t(id)] = int16_t(byte);
    needed_ = needed_ || byte >= 0x80;
  }
}

Utf8Guard::State Utf8Guard::after(const State& state, int token) const {
  if (state.lacking > 0) return {uint8_t(state.lacking - 1), 0x80, 0xBF};
  const int byte = byte_of_[size_t(token)];
  if (byte < 0x80) return {};
  State next{uint8_t(continuations(byte)), 0x80, 0xBF};
  if (byte == 0xE0) next.low = 0xA0;   // below: too long a form of a code point
  if (byte == 0xED) next.high = 0x9F;  // above: surrogates
  if (byte == 0xF0) next.low = 0x90;   // below: too long again
  if (byte == 0xF4) next.high = 0x8F;  // above: beyond U+10FFFF
  return next;
}

// A sequence has at most four bytes: the first byte is looked for that far back.
Utf8Guard::State Utf8Guard::state_of(std::span<const int> tokens) const {
  const auto byte_at = [&](size_t i) { return int(byte_of_[size_t(tokens[i])]); };
  size_t first = tokens.size();
  while (first > 0 && tokens.size() - first < 3 && byte_at(first - 1) >= 0x80 &&
         byte_at(first - 1) < 0xC0)
    --first;
  if (first > 0 && continuations(byte_at(first - 1)) > 0) --first;
  State state;
  for (size_t i = first; i < tokens.size(); ++i) state = after(state, tokens[i]);
  return state;
}

}  // namespace tx
