#include "lib/text/bpe.h"

#include <algorithm>
#include <bit>

namespace tx {
namespace {

// Bytes of the character that begins with `lead` in valid UTF-8.
size_t character_bytes(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

size_t count_characters(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

uint64_t pair_of(int left, int right) {
  return uint64_t(uint32_t(left)) << 32 | uint64_t(uint32_t(right));
}

size_t place_of(uint64_t pair, size_t mask) {
  return size_t((pair * 0x9E3779B97F4A7C15u) >> 32) & mask;
}

}  // namespace

std::optional<BpeEncoder> BpeEncoder::make(const std::vector<BpePiece>& pieces,
                                           const std::array<int, 256>& byte_ids) {
  BpeEncoder encoder;
  encoder.byte_ids_ = byte_ids;
  encoder.ascii_.fill(-1);
  for (const BpePiece& piece : pieces) {
    if (piece.text.empty() || piece.text.find(word_sign, 1) != piece.text.npos) return {};
    if (piece.text.size() != character_bytes(piece.text[0])) continue;
    if (piece.text.size() == 1)
      encoder.ascii_[size_t(piece.text[0])] = piece.id;
    else if (piece.text == word_sign)
      encoder.word_sign_id_ = piece.id;
    else
      encoder.characters_[piece.text] = piece.id;
  }
  if (encoder.word_sign_id_ < 0 || !encoder.add_merges(pieces)) return {};
  return encoder;
}

// A merge is any way to part a piece into two that are pieces.
bool BpeEncoder::add_merges(const std::vector<BpePiece>& pieces) {
  std::unordered_map<std::string_view, int> ids;
  for (const BpePiece& piece : pieces) ids[piece.text] = piece.id;
  std::vector<Merge> found;
  for (const BpePiece& piece : pieces) {
    const std::string_view text = piece.text;
    for (size_t at = 0; at < text.size(); at += character_bytes(text[at])) {
      if (!ids.count(text.substr(at, character_bytes(text[at])))) return false;
      const auto left = ids.find(text.substr(0, at)), right = ids.find(text.substr(at));
      if (at == 0 || left == ids.end() || right == ids.end()) continue;
      found.push_back({pair_of(left->second, right->second), piece.id, piece.score});
    }
  }
  merges_.resize(std::bit_ceil(2 * found.size() + 2));
  for (const Merge& merge : found) insert(merge);
  return true;
}

void BpeEncoder::insert(const Merge& merge) {
  const size_t mask = merges_.size() - 1;
  size_t at = place_of(merge.pair, mask);
  while (merges_[at].pair != 0) at = (at + 1) & mask;
  merges_[at] = merge;
}

const BpeEncoder::Merge* BpeEncoder::find(int left, int right) const {
  if (left < 0 || right < 0) return nullptr;
  const uint64_t pair = pair_of(left, right);
  const size_t mask = merges_.size() - 1;
  for (size_t at = place_of(pair, mask);; at = (at + 1) & mask) {
    if (merges_[at].pair == pair) return &merges_[at];
    if (merges_[at].pair == 0) return nullptr;
  }
}

int BpeEncoder::character(std::string_view text) const {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < ascii_.size()) return ascii_[first];
  const auto found = characters_.find(std::string(text));
  return found == characters_.end() ? -1 : found->second;
}

size_t BpeEncoder::merge_all(Symbol* symbols, size_t count) const {
  const auto look = [&](size_t i) {
    symbols[i].merge = i + 1 < count ? find(symbols[i].id, symbols[i + 1].id) : nullptr;
  };
  for (size_t i = 0; i < count; ++i) look(i);
  for (;;) {
    size_t best = count;
    for (size_t i = 0; i < count; ++i) {
      if (symbols[i].merge == nullptr) continue;
      if (best == count || symbols[i].merge->score > symbols[best].merge->score) best = i;
    }
    if (best == count) return count;
    symbols[best].id = symbols[best].merge->id;
    std::copy(symbols + best + 2, symbols + count, symbols + best + 1);
    --count;
    look(best);
    if (best > 0) look(best - 1);
  }
}

bool BpeEncoder::encode_word(std::string_view word, std::vector<int>& ids) const {
  if (count_characters(word) > longest_word) return false;
  std::array<Symbol, longest_word + 1> symbols;
  size_t count = 0;
  symbols[count++] = {word_sign_id_, word_sign, nullptr};
  for (size_t at = 0; at < word.size();) {
    const std::string_view text = word.substr(at, character_bytes(word[at]));
    symbols[count++] = {character(text), text, nullptr};
    at += text.size();
  }
  count = merge_all(symbols.data(), count);
  for (size_t i = 0; i < count; ++i) {
    if (symbols[i].id >= 0) {
      ids.push_back(symbols[i].id);
    } else {
      for (const char c : symbols[i].text) ids.push_back(byte_ids_[static_cast<unsigned char>(c)]);
    }
  }
  return true;
}

}  // namespace tx
