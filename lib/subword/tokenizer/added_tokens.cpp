#include "lib/subword/tokenizer/added_tokens.h"

#include <algorithm>
#include <functional>

#include "lib/base/utf8.h"
#include "lib/subword/tokenizer/unicode.h"

namespace tx {

namespace {

size_t pair_at(std::string_view text) {
  return size_t(static_cast<unsigned char>(text[0])) << 8 | static_cast<unsigned char>(text[1]);
}

}  // namespace

void AddedTokens::add(const AddedToken& token, std::string text) {
  if (text.empty()) return;
  auto& sizes = sizes_[static_cast<unsigned char>(text[0])];
  if (std::ranges::count(sizes, text.size()) == 0) {
    sizes.push_back(text.size());
    std::ranges::sort(sizes, std::greater<>());
  }
  if (text.size() > 1) {
    pairs_.set(pair_at(text));
  } else {
    for (size_t second = 0; second < 256; ++second)
      pairs_.set(size_t(static_cast<unsigned char>(text[0])) << 8 | second);
  }
  tokens_.emplace(std::move(text), token);
}

const AddedToken* AddedTokens::find(std::string_view text, size_t& size) const {
  if (text.size() > 1 && !pairs_[pair_at(text)]) return nullptr;
  for (const size_t n : sizes_[static_cast<unsigned char>(text[0])]) {
    if (n > text.size()) continue;
    const auto found = tokens_.find(text.substr(0, n));
    if (found == tokens_.end()) continue;
    size = n;
    return &found->second;
  }
  return nullptr;
}

bool AddedTokens::stands_alone(std::string_view text, size_t begin, size_t end) {
  return (begin == 0 || !is_word(last_code_point(text.substr(0, begin)))) &&
         (end == text.size() || !is_word(first_code_point(text.substr(end))));
}

size_t AddedTokens::before_spaces(std::string_view text, size_t end) {
  while (end > 0 && is_white_space(last_code_point(text.substr(0, end))))
    end = last_character(text.substr(0, end));
  return end;
}

size_t AddedTokens::behind_spaces(std::string_view text, size_t begin) {
  for (size_t next = begin; begin < text.size(); begin = next)
    if (!is_white_space(next_code_point(text, next))) break;
  return begin;
}

}  // namespace tx
