// The merges of a file of subword-nmt's codes, and the segmentation of a word.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/subword/vocabulary.h"

namespace tx {

// Symbols are numbered; a symbol at the end of a word ends in </w>.
class CodesTable {
 public:
  static constexpr std::string_view end_sign = "</w>";
  struct Merge {
    int rank, id;  // the lowest rank is done first; id of the merged symbol
  };
  using Halves = std::pair<std::string, std::string>;

  // Reads the first `merges` merges, all if negative. DataError with the place.
  CodesTable(const std::string& path, int merges);

  bool ends_apart() const { return ends_apart_; }         // version 0.1: </w> is a separate symbol
  int find(const std::string& symbol) const;              // -1: in no merge
  const Merge* find(int left, int right) const;           // null: none
  const Halves* halves(const std::string& symbol) const;  // of its merge; null: none

 private:
  void read_version(std::string_view line, const std::string& place);
  void check(const std::vector<Halves>& pairs, const std::string& name) const;
  void add(const std::vector<Halves>& pairs);
  int number(const std::string& symbol);

  bool ends_apart_ = true;
  std::unordered_map<std::string, int> symbols_;
  std::unordered_map<uint64_t, Merge> merges_;
  std::unordered_map<std::string, Halves> halves_;
};

// The tokens of a word, without </w>. All occurrences of the best merge are done from left to right
// before the next is chosen; `draws` drops occurrences.
std::vector<std::string> cut_word(const CodesTable& table, std::string_view word,
                                  MergeDraws* draws);

std::string_view strip_blanks(std::string_view text);  // of spaces and carriage returns
// The number of bytes of the first character of valid UTF-8.
size_t first_character_bytes(std::string_view text);

}  // namespace tx
