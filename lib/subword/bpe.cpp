#include "lib/subword/bpe.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>

namespace tx {
namespace {

// In bytes: finding the merges of longer tokens takes too long.
constexpr size_t max_token_bytes = 1000;

// Bytes of the character that begins with `lead` in valid UTF-8.
size_t character_bytes(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

uint64_t pair_of(int left, int right) {
  return uint64_t(uint32_t(left)) << 32 | uint64_t(uint32_t(right));
}

size_t place_of(uint64_t pair, size_t mask) {
  return size_t((pair * 0x9E3779B97F4A7C15u) >> 32) & mask;
}

}  // namespace

std::optional<BpeEncoder> BpeEncoder::make(const TokenTable& tokens) {
  BpeEncoder encoder;
  for (int i = 0; i < 256; ++i) encoder.byte_ids_[size_t(i)] = tokens.byte_id(char(i));
  encoder.ascii_.fill(-1);
  for (int id = 0; id < tokens.size(); ++id)
    if (!encoder.add_token(tokens, id)) return {};
  for (auto& sizes : encoder.user_sizes_) {
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  }
  if (encoder.word_sign_id_ < 0 || !encoder.add_merges(tokens)) return {};
  return encoder;
}

bool BpeEncoder::add_token(const TokenTable& tokens, int id) {
  const bool user = tokens.kind(id) == TokenTable::Kind::user;
  if (!user && tokens.kind(id) != TokenTable::Kind::normal) return true;
  const std::string_view text = tokens.text(id);
  if (text.empty() || text.find(word_sign, user ? 0 : 1) != text.npos) return false;
  if (user) {
    user_[std::string(text)] = id;
    user_sizes_[static_cast<unsigned char>(text[0])].push_back(text.size());
    return true;
  }
  if (text.size() > max_token_bytes) return false;
  if (text.size() != character_bytes(text[0])) return true;
  if (text.size() == 1)
    ascii_[size_t(text[0])] = id;
  else if (text == word_sign)
    word_sign_id_ = id;
  else
    characters_[std::string(text)] = id;
  return true;
}

// A merge is any way to split a token into two that are tokens.
bool BpeEncoder::add_merges(const TokenTable& tokens) {
  const auto id_of = [&](std::string_view text) {
    const int id = text.size() == 1 ? character(text) : tokens.id_of(text);
    return id < 0 || tokens.kind(id) != TokenTable::Kind::normal ? -1 : id;
  };
  std::vector<Merge> found;
  for (int id = 0; id < tokens.size(); ++id) {
    if (tokens.kind(id) != TokenTable::Kind::normal) continue;
    const std::string_view text = tokens.text(id);
    for (size_t at = 0; at < text.size(); at += character_bytes(text[at])) {
      if (id_of(text.substr(at, character_bytes(text[at]))) < 0) return false;
      if (at == 0) continue;
      const int left = id_of(text.substr(0, at)), right = left < 0 ? -1 : id_of(text.substr(at));
      if (right >= 0) found.push_back({pair_of(left, right), id, tokens.score(id)});
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
  const auto found = characters_.find(text);
  return found == characters_.end() ? -1 : found->second;
}

// Also records the merges of unusable tokens, which are split later.
const BpeEncoder::Merge* BpeEncoder::find(int left, int right, Partings& partings) const {
  const Merge* merge = find(left, right);
  if (merge != nullptr && !usable_.empty() && !usable_[size_t(merge->id)])
    partings[merge->id] = merge;
  return merge;
}

BpeEncoder::Symbol BpeEncoder::next_symbol(std::string_view rest) const {
  for (const size_t size : user_sizes_[static_cast<unsigned char>(rest[0])]) {
    if (size > rest.size()) continue;
    if (const auto found = user_.find(rest.substr(0, size)); found != user_.end())
      return {found->second, rest.substr(0, size)};
  }
  const std::string_view text = rest.substr(0, character_bytes(rest[0]));
  return {character(text), text};
}

// Quadratic in the number of symbols, which is fastest for words.
size_t BpeEncoder::merge_all(Symbol* symbols, size_t count, Partings& partings,
                             MergeDraws* draws) const {
  const auto look = [&](size_t i) {
    symbols[i].merge = i + 1 < count ? find(symbols[i].id, symbols[i + 1].id, partings) : nullptr;
  };
  for (size_t i = 0; i < count; ++i) look(i);
  for (bool dropped = false;;) {
    size_t best = count;
    for (size_t i = 0; i < count; ++i) {
      if (symbols[i].merge == nullptr || symbols[i].dropped) continue;
      if (best == count || symbols[i].merge->score > symbols[best].merge->score) best = i;
    }
    if (best == count) return count;
    if (draws != nullptr && draws->drop()) {
      symbols[best].dropped = dropped = true;
      continue;
    }
    symbols[best].id = symbols[best].merge->id;
    std::copy(symbols + best + 2, symbols + count, symbols + best + 1);
    --count;
    for (size_t i = 0; dropped && i < count; ++i) symbols[i].dropped = false;
    dropped = false;
    if (best > 0) look(best - 1);
    look(best);
  }
}

// Merges words of any length like merge_all(): possible merges in a heap, symbols in a linked list.
class BpeEncoder::LongWord {
 public:
  LongWord(const BpeEncoder& encoder, std::vector<Symbol>& symbols, Partings& partings)
      : encoder_(encoder), symbols_(symbols), partings_(partings) {
    for (size_t i = 0; i < symbols.size(); ++i) {
      next_.push_back(i + 1);
      previous_.push_back(i - 1);
    }
  }

  void merge_all(MergeDraws* draws) {
    for (size_t i = 0; i < symbols_.size(); ++i) look(i);
    std::vector<Possible> dropped;
    while (!heap_.empty()) {
      const Possible best = heap_.top();
      heap_.pop();
      if (symbols_[best.left].merge != best.merge) continue;  // a neighbour has changed since
      if (draws != nullptr && draws->drop()) {
        dropped.push_back(best);
        continue;
      }
      merge(best.left);
      for (const Possible& possible : dropped) heap_.push(possible);
      dropped.clear();
    }
    remove_merged();
  }

 private:
  struct Possible {
    const Merge* merge;
    size_t left;
    bool operator<(const Possible& other) const {
      if (merge->score != other.merge->score) return merge->score < other.merge->score;
      return left > other.left;
    }
  };

  void look(size_t left) {
    if (left >= symbols_.size()) return;
    const size_t right = next_[left];
    const Merge* found = right < symbols_.size()
                             ? encoder_.find(symbols_[left].id, symbols_[right].id, partings_)
                             : nullptr;
    symbols_[left].merge = found;
    if (found != nullptr) heap_.push({found, left});
  }

  void merge(size_t left) {
    const size_t gone = next_[left];
    symbols_[left].id = symbols_[left].merge->id;
    symbols_[gone].merge = nullptr;
    symbols_[gone].text = {};
    next_[left] = next_[gone];
    if (next_[gone] < symbols_.size()) previous_[next_[gone]] = left;
    look(previous_[left]);
    look(left);
  }

  void remove_merged() {
    std::erase_if(symbols_, [](const Symbol& symbol) { return symbol.text.empty(); });
  }

  const BpeEncoder& encoder_;
  std::vector<Symbol>& symbols_;
  Partings& partings_;
  std::vector<size_t> next_, previous_;
  std::priority_queue<Possible> heap_;
};

void BpeEncoder::append_parts(int id, const Partings& partings, std::vector<int>& ids) const {
  const auto made = usable_[size_t(id)] ? partings.end() : partings.find(id);
  if (made == partings.end()) return ids.push_back(id);
  append_parts(int(made->second->pair >> 32), partings, ids);
  append_parts(int(uint32_t(made->second->pair)), partings, ids);
}

void BpeEncoder::append(const Symbol& symbol, const Partings& partings,
                        std::vector<int>& ids) const {
  if (symbol.id < 0) {
    for (const char c : symbol.text) ids.push_back(byte_ids_[static_cast<unsigned char>(c)]);
  } else if (usable_.empty()) {
    ids.push_back(symbol.id);
  } else {
    append_parts(symbol.id, partings, ids);
  }
}

void BpeEncoder::encode_word(std::string_view word, std::vector<int>& ids,
                             MergeDraws* draws) const {
  constexpr size_t max = 100;  // symbols that are kept on the stack
  std::array<Symbol, max + 1> symbols;
  size_t count = 0, at = 0;
  Partings partings;
  symbols[count++] = {word_sign_id_, word_sign};
  for (; at < word.size() && count <= max; at += symbols[count - 1].text.size())
    symbols[count++] = next_symbol(word.substr(at));
  if (at == word.size()) {
    count = merge_all(symbols.data(), count, partings, draws);
    for (size_t i = 0; i < count; ++i) append(symbols[i], partings, ids);
    return;
  }
  std::vector<Symbol> all(symbols.begin(), symbols.end());
  for (; at < word.size(); at += all.back().text.size())
    all.push_back(next_symbol(word.substr(at)));
  LongWord(*this, all, partings).merge_all(draws);
  for (const Symbol& symbol : all) append(symbol, partings, ids);
}

}  // namespace tx
