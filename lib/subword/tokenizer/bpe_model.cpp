// Byte-pair encoding as in Hugging Face's tokenizers: of the pairs that can be merged, always the
// one with the lowest rank, the leftmost of several.
#include <algorithm>
#include <bit>
#include <limits>
#include <queue>

#include "lib/base/utf8.h"
#include "lib/subword/tokenizer/word_model.h"

namespace tx {

namespace {

class BpeModel final : public WordModel {
 public:
  BpeModel(const TokenizerSpec& spec, bool by_bytes)
      : by_bytes_(by_bytes),
        whole_words_(spec.ignore_merges),
        fuses_(spec.fuse_unk),
        unk_(spec.unk),
        prefix_(spec.prefix),
        suffix_(spec.suffix),
        tokens_(spec) {
    for (size_t i = 0; i < 256; ++i) {
      std::string text;
      append_code_point(text, character_of_byte(static_cast<unsigned char>(i)));
      of_byte_[i] = tokens_.find(text);
      const char byte = char(i);
      of_ascii_[i] = i < 0x80 ? tokens_.find({&byte, 1}) : -1;
    }
    if (by_bytes) keep_bytes(spec);
    if (spec.byte_fallback) fallback_ = byte_tokens(tokens_);
    table_.resize(std::bit_ceil(2 * spec.merges.size() + 2));
    for (size_t rank = 0; rank < spec.merges.size(); ++rank) insert(spec.merges[rank], int(rank));
    check_sign(spec);
  }

  void add(std::string_view word, std::vector<int>& ids) const override {
    if (whole_words_)
      if (const int id = tokens_.find(word); id >= 0) return ids.push_back(id);
    const size_t begin = ids.size();
    by_bytes_&& prefix_.empty() && suffix_.empty() ? add_bytes(word, ids)
                                                   : add_characters(word, ids);
    constexpr size_t max_short = 40;
    if (ids.size() - begin > max_short)
      merge_long(ids, begin);
    else
      merge_short(ids, begin);
  }

  // Up to the next U+2581 that follows another character, if no token crosses that place.
  size_t part(std::string_view word) const override {
    if (!cuts_) return word.size();
    size_t at = 0;
    while (word.substr(at).starts_with(sign)) at += sign.size();
    return std::min(word.find(sign, at), word.size());
  }

 private:
  static constexpr std::string_view sign = "\xE2\x96\x81";
  struct Slot {
    uint64_t pair = none;  // left id << 32 | right id
    int rank = 0, result = 0;
  };
  static constexpr uint64_t none = ~uint64_t(0);
  static uint64_t pair_of(int left, int right) {
    return uint64_t(uint32_t(left)) << 32 | uint32_t(right);
  }
  size_t place_of(uint64_t pair) const {
    return size_t((pair * 0x9E3779B97F4A7C15u) >> 32) & (table_.size() - 1);
  }

  void insert(const TokenizerSpec::Merge& merge, int rank) {
    const uint64_t pair = pair_of(merge.left, merge.right);
    size_t at = place_of(pair);
    while (table_[at].pair != none && table_[at].pair != pair) at = (at + 1) & (table_.size() - 1);
    table_[at] = {pair, rank, merge.result};
  }

  const Slot* find(int left, int right) const {
    const uint64_t pair = pair_of(left, right);
    for (size_t at = place_of(pair);; at = (at + 1) & (table_.size() - 1)) {
      if (table_[at].pair == pair) return &table_[at];
      if (table_[at].pair == none) return nullptr;
    }
  }

  // Words are bytes: so are the texts to compare them with.
  void keep_bytes(const TokenizerSpec& spec) {
    if (!whole_words_) return;
    ModelTokens by_bytes;
    std::string bytes;
    each_model_token(spec, [&](int id, const std::string& text) {
      if (bytes_of_token(text, bytes)) by_bytes.add(bytes, id);
    });
    tokens_ = std::move(by_bytes);
  }

  // Whether words can be cut before U+2581: every merge keeps it at the beginning.
  void check_sign(const TokenizerSpec& spec) {
    cuts_ = !by_bytes_ && !whole_words_ && prefix_.empty() && suffix_.empty() &&
            tokens_.find(sign) >= 0;
    for (const auto& merge : spec.merges) {
      if (!cuts_) return;
      std::string_view text = spec.tokens[size_t(merge.result)];
      while (text.starts_with(sign)) text.remove_prefix(sign.size());
      cuts_ = text.find(sign) == text.npos;
    }
  }

  void add_bytes(std::string_view word, std::vector<int>& ids) const {
    bool unknown = false;  // before this byte
    for (const char c : word) {
      const int id = of_byte_[static_cast<unsigned char>(c)];
      add_one(id, unknown, ids);
    }
  }

  // An id, or -1 for unk.
  void add_one(int id, bool& unknown, std::vector<int>& ids) const {
    if (id >= 0)
      ids.push_back(id);
    else if (unk_ >= 0 && !(fuses_ && unknown))
      ids.push_back(unk_);
    unknown = id < 0;
  }

  void add_characters(std::string_view word, std::vector<int>& ids) const {
    bool unknown = false;
    std::string text;
    const bool framed = !prefix_.empty() || !suffix_.empty();
    const auto add_next = [&](std::string_view character, bool first, bool last) {
      if (framed) {
        text = (first ? "" : prefix_) + std::string(character) + (last ? suffix_ : "");
        character = text;
      }
      const bool ascii = character.size() == 1;
      const int id =
          ascii ? of_ascii_[static_cast<unsigned char>(character[0])] : tokens_.find(character);
      if (id < 0 && has_fallback(character)) {
        for (const char c : character) ids.push_back(fallback_[static_cast<unsigned char>(c)]);
        return;
      }
      add_one(id, unknown, ids);
    };
    for (size_t i = 0; i < word.size();) {
      const size_t begin = i;
      if (by_bytes_) {
        text.clear();
        append_code_point(text, character_of_byte(static_cast<unsigned char>(word[i++])));
        add_next(std::string(text), begin == 0, i == word.size());
      } else {
        next_code_point(word, i);
        add_next(word.substr(begin, i - begin), begin == 0, i == word.size());
      }
    }
  }

  bool has_fallback(std::string_view text) const {
    return std::ranges::all_of(
        text, [&](char c) { return fallback_[static_cast<unsigned char>(c)] >= 0; });
  }

  // Quadratic, which is fastest for words.
  void merge_short(std::vector<int>& ids, size_t begin) const {
    constexpr int last = std::numeric_limits<int>::max();
    std::array<const Slot*, 64> merges;
    int* const all = ids.data() + begin;
    size_t count = ids.size() - begin;
    const auto look = [&](size_t i) {
      merges[i] = i + 1 < count ? find(all[i], all[i + 1]) : nullptr;
    };
    for (size_t i = 0; i < count; ++i) look(i);
    for (;;) {
      size_t best = count;
      int rank = last;
      for (size_t i = 0; i < count; ++i)
        if (merges[i] != nullptr && merges[i]->rank < rank) rank = merges[best = i]->rank;
      if (best == count) break;
      all[best] = merges[best]->result;
      std::copy(all + best + 2, all + count, all + best + 1);
      std::copy(merges.begin() + best + 2, merges.begin() + count, merges.begin() + best + 1);
      --count;
      if (best > 0) look(best - 1);
      look(best);
    }
    ids.resize(begin + count);
  }

  // Possible merges in a heap, symbols in a linked list.
  void merge_long(std::vector<int>& ids, size_t begin) const {
    struct Possible {
      int rank;
      size_t left;
      const Slot* slot;
      bool operator<(const Possible& other) const {
        return rank != other.rank ? rank > other.rank : left > other.left;
      }
    };
    int* const all = ids.data() + begin;
    const size_t count = ids.size() - begin;
    std::vector<size_t> next(count), previous(count);
    std::priority_queue<Possible> heap;
    const auto look = [&](size_t left) {
      const size_t right = next[left];
      if (right >= count) return;
      if (const Slot* slot = find(all[left], all[right])) heap.push({slot->rank, left, slot});
    };
    for (size_t i = 0; i < count; ++i) {
      next[i] = i + 1;
      previous[i] = i - 1;
    }
    for (size_t i = 0; i < count; ++i) look(i);
    std::vector<bool> gone(count);
    while (!heap.empty()) {
      const Possible best = heap.top();
      heap.pop();
      if (gone[best.left] || next[best.left] >= count) continue;
      const size_t right = next[best.left];
      if (find(all[best.left], all[right]) != best.slot) continue;  // a neighbour has changed since
      all[best.left] = best.slot->result;
      gone[right] = true;
      next[best.left] = next[right];
      if (next[right] < count) previous[next[right]] = best.left;
      if (best.left > 0) look(previous[best.left]);
      look(best.left);
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i)
      if (!gone[i]) all[kept++] = all[i];
    ids.resize(begin + kept);
  }

  bool by_bytes_, whole_words_, fuses_;
  int unk_;
  std::string prefix_, suffix_;
  ModelTokens tokens_;
  std::array<int, 256> of_byte_{}, of_ascii_{};
  std::array<int, 256> fallback_ = [] {
    std::array<int, 256> all;
    all.fill(-1);
    return all;
  }();
  std::vector<Slot> table_;  // open addressing; the size is a power of two
  bool cuts_ = false;
};

}  // namespace

std::unique_ptr<WordModel> make_bpe(const TokenizerSpec& spec, bool by_bytes) {
  return std::make_unique<BpeModel>(spec, by_bytes);
}

}  // namespace tx
