#include "lib/search/engine/continuation.h"

#include <algorithm>

#include "lib/base/utf8.h"

namespace tx {

std::string continuation_text(const Vocabulary& vocabulary, std::span<const int> prompt,
                              std::span<const int> ids, size_t repeats) {
  std::string text;
  for (const int id : ids) text += vocabulary.token_bytes(id);
  const auto has_text = [&](int id) { return !vocabulary.token_bytes(id).empty(); };
  if (repeats == 0 && text.starts_with(' ') && std::ranges::none_of(prompt, has_text)) repeats = 1;
  text.erase(0, repeats);
  repair_utf8(text);
  return text;
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string before_stop(std::string text, const std::vector<std::string>& stops) {
  size_t end = text.size();
  for (const std::string& stop : stops) end = std::min(end, text.find(stop));
  text.resize(end);
  return text;
}

bool holds_stop(const std::string& text, const std::vector<std::string>& stops) {
  return std::any_of(stops.begin(), stops.end(),
                     [&](const std::string& stop) { return text.find(stop) != text.npos; });
}

std::string settled(std::string text, const std::vector<std::string>& stops) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  if (holds_stop(text, stops)) return before_stop(std::move(text), stops);
  while (text.ends_with(replacement)) text.resize(text.size() - replacement.size());
  size_t open = 0;  // bytes at the end that a stop string may begin with
  for (const std::string& stop : stops)
    for (size_t length = std::min(stop.size() - 1, text.size()); length > open; --length)
      if (text.ends_with(std::string_view(stop).substr(0, length))) open = length;
  text.resize(text.size() - open);
  return text;
}

}  // namespace tx
