// The merges of a file of subword-nmt's codes, and one word cut by them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/subword/merge_dropout.h"

namespace tx {

// Symbols are numbered; a symbol at the end of a word is written with </w>.
class CodesTable {
 public:
  static constexpr std::string_view end_sign = "</w>";
  struct Merge {
    int rank, id;  // the lowest rank is done first; id: of what the merge makes
  };
  using Halves = std::pair<std::string, std::string>;

  // The first `merges` merges, all where that is negative. DataError with the place.
  CodesTable(const std::string& path, int merges);

  bool ends_apart() const { return ends_apart_; }  // version 0.1: </w> is a symbol of its own
  int find(const std::string& symbol) const;       // -1: in no merge
  const Merge* find(int left, int right) const;    // null: none
  const Halves* halves(const std::string& symbol) const;  // what it was merged from; null: nothing

 private:
  void read_version(std::string_view line, const std::string& place);
  void add(const std::vector<Halves>& pairs);
  int number(const std::string& symbol);

  bool ends_apart_ = true;
  std::unordered_map<std::string, int> symbols_;
  std::unordered_map<uint64_t, Merge> merges_;
  std::unordered_map<std::string, Halves> halves_;
};

// The tokens of one word, without </w>. All places of the first possible merge are done, from the
// left, before the next is sought; `draws`, where given, leaves places out.
std::vector<std::string> cut_word(const CodesTable& table, std::string_view word,
                                  MergeDraws* draws);

// Bytes of the character that valid UTF-8 begins with.
size_t first_character_bytes(std::string_view text);

}  // namespace tx
