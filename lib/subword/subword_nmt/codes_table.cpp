#include "lib/subword/subword_nmt/codes_table.h"

#include <queue>
#include <unordered_set>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/io.h"
#include "lib/base/utf8.h"

namespace tx {

namespace {

constexpr std::string_view version_word = "#version:";

uint64_t key_of(int left, int right) { return uint64_t(uint32_t(left)) << 32 | uint32_t(right); }

CodesTable::Halves parse(std::string_view line, const std::string& place) {
  line = strip_blanks(line);
  const size_t at = line.find(' ');
  if (at == line.npos || line.find(' ', at + 1) != line.npos)
    throw DataError(place + ": expected two tokens separated by one space, not '" +
                    std::string(line) + "'; is this a file of subword-nmt learn-bpe?");
  return {std::string(line.substr(0, at)), std::string(line.substr(at + 1))};
}

// A partly merged word: symbols in a linked list, candidate merges in a heap.
class Word {
 public:
  Word(const CodesTable& table, std::string_view text) : table_(table), text_(text) {
    for (size_t at = 0; at < text.size();) {
      const size_t bytes = first_character_bytes(text.substr(at));
      const bool last = at + bytes == text.size() && !table.ends_apart();
      std::string symbol(text.substr(at, bytes));
      if (last) symbol += CodesTable::end_sign;
      add(table.find(symbol), at);
      at += bytes;
    }
    if (table.ends_apart()) add(table.find(std::string(CodesTable::end_sign)), text.size());
  }

  std::vector<std::string> cut(MergeDraws* draws) {
    for (size_t i = 0; i < symbols_.size(); ++i) look(i);
    std::vector<Possible> done, dropped;
    while (!heap_.empty()) {
      take_first(draws, done, dropped);
      if (done.empty()) continue;
      for (const Possible& possible : done) merge(possible);
      for (const Possible& possible : dropped) heap_.push(possible);
      dropped.clear();
    }
    return tokens();
  }

 private:
  struct Symbol {
    int id;
    size_t begin;  // in the word
    size_t previous, next;
    const CodesTable::Merge* merge = nullptr;  // with the next
    bool gone = false;
  };
  struct Possible {
    const CodesTable::Merge* merge;
    size_t left;
    bool operator<(const Possible& other) const {
      if (merge->rank != other.merge->rank) return merge->rank > other.merge->rank;
      return left > other.left;
    }
  };

  void add(int id, size_t begin) {
    symbols_.push_back({id, begin, symbols_.size() - 1, symbols_.size() + 1});
  }

  void look(size_t left) {
    if (left >= symbols_.size()) return;
    Symbol& symbol = symbols_[left];
    symbol.merge =
        symbol.next < symbols_.size() ? table_.find(symbol.id, symbols_[symbol.next].id) : nullptr;
    if (symbol.merge != nullptr) heap_.push({symbol.merge, left});
  }

  bool stale(const Possible& possible) const {
    const Symbol& symbol = symbols_[possible.left];
    return symbol.gone || symbol.merge != possible.merge;
  }

  // Moves the occurrences of the best merge out of the heap: those to merge, and dropped ones.
  void take_first(MergeDraws* draws, std::vector<Possible>& done, std::vector<Possible>& dropped) {
    done.clear();
    const int rank = heap_.top().merge->rank;
    while (!heap_.empty() && heap_.top().merge->rank == rank) {
      const Possible possible = heap_.top();
      heap_.pop();
      if (stale(possible)) continue;
      (draws != nullptr && draws->drop() ? dropped : done).push_back(possible);
    }
  }

  void merge(const Possible& possible) {
    if (stale(possible)) return;  // its left symbol was merged into the previous occurrence
    Symbol& symbol = symbols_[possible.left];
    Symbol& right = symbols_[symbol.next];
    symbol.id = possible.merge->id;
    symbol.next = right.next;
    right.gone = true;
    if (symbol.next < symbols_.size()) symbols_[symbol.next].previous = possible.left;
    look(symbol.previous);
    look(possible.left);
  }

  std::vector<std::string> tokens() const {
    std::vector<std::string> out;
    for (size_t i = 0; i < symbols_.size(); i = symbols_[i].next) {
      const size_t next = symbols_[i].next;
      const size_t end = next < symbols_.size() ? symbols_[next].begin : text_.size();
      if (end > symbols_[i].begin)
        out.emplace_back(text_.substr(symbols_[i].begin, end - symbols_[i].begin));
    }
    return out;
  }

  const CodesTable& table_;
  std::string_view text_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Possible> heap_;
};

}  // namespace

CodesTable::CodesTable(const std::string& path, int merges) {
  LineReader reader(path);
  std::vector<Halves> pairs;
  int64_t header = 0, empty = 0;
  const auto place_of = [&](int64_t line) { return reader.name() + ":" + std::to_string(line); };
  for (std::string line; reader.next(line);) {
    const std::string place = place_of(reader.line_number());
    // Only the last lines may be empty.
    if (empty > 0 && !line.empty() && pairs.size() < size_t(merges)) parse("", place_of(empty));
    if (line.empty()) {
      if (empty == 0) empty = reader.line_number();
      continue;
    }
    if (count_invalid_utf8(line) > 0) throw DataError(place + ": not valid UTF-8");
    if (reader.line_number() == 1 && line.starts_with(version_word)) {
      read_version(line, place);
      header = 1;
    } else if (merges < 0 || reader.line_number() - header <= merges) {
      pairs.push_back(parse(line, place));
    }
  }
  if (pairs.empty() && merges != 0)
    throw DataError(path + " has no merges; expected codes of subword-nmt learn-bpe");
  check(pairs, reader.name());
  add(pairs);
}

void CodesTable::read_version(std::string_view line, const std::string& place) {
  std::string_view text = strip_blanks(line.substr(version_word.size()));
  for (size_t dot; (dot = text.rfind('.')) != text.npos && dot + 1 < text.size() &&
                   text.find_first_not_of('0', dot + 1) == text.npos;)
    text = text.substr(0, dot);  // 0.2.0 is 0.2
  ends_apart_ = text == "0.1";
  if (!ends_apart_ && text != "0.2")
    throw DataError(place + ": codes of version '" + std::string(text) +
                    "' are not supported; 0.1 and 0.2 are");
}

// learn-bpe merges characters and what it has merged before; other lines are not its codes.
void CodesTable::check(const std::vector<Halves>& pairs, const std::string& name) const {
  std::unordered_set<std::string> made;
  size_t unknown = 0;
  bool ends = ends_apart_, byte_level = false;
  const auto known = [&](std::string_view symbol) {
    if (symbol.size() > end_sign.size() && symbol.ends_with(end_sign))
      symbol.remove_suffix(end_sign.size());
    return symbol.empty() || first_character_bytes(symbol) == symbol.size() || symbol == end_sign;
  };
  for (const auto& [left, right] : pairs) {
    const bool both =
        (known(left) || made.contains(left)) && (known(right) || made.contains(right));
    unknown += both ? 0 : 1;
    made.insert(left + right);
    ends = ends || right.ends_with(end_sign);
    byte_level = byte_level || left.starts_with("\xC4\xA0");
  }
  if (byte_level && !ends)
    throw DataError(name + " has byte-level merges, as those of GPT-2, which are not supported");
  if (2 * unknown > pairs.size())
    throw DataError(name + ": " + counted(int64_t(unknown), "line") + " of " +
                    with_commas(int64_t(pairs.size())) +
                    " merge no characters or earlier merges; expected codes of subword-nmt "
                    "learn-bpe (tokens with their counts are a --vocabulary)");
}

// The first of equal pairs gives the rank. A token that several pairs make is split into the pair
// whose last occurrence in the file comes first (the result of subword-nmt's dictionaries).
void CodesTable::add(const std::vector<Halves>& pairs) {
  std::unordered_set<uint64_t> seen;
  for (size_t i = pairs.size(); i-- > 0;) {
    const auto& [left, right] = pairs[i];
    const int left_id = number(left), right_id = number(right);
    const uint64_t key = key_of(left_id, right_id);
    merges_[key] = {int(i), number(left + right)};
    if (seen.insert(key).second) halves_[left + right] = pairs[i];
  }
}

int CodesTable::number(const std::string& symbol) {
  return symbols_.try_emplace(symbol, int(symbols_.size())).first->second;
}

int CodesTable::find(const std::string& symbol) const {
  const auto found = symbols_.find(symbol);
  return found == symbols_.end() ? -1 : found->second;
}

const CodesTable::Merge* CodesTable::find(int left, int right) const {
  if (left < 0 || right < 0) return nullptr;
  const auto found = merges_.find(key_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

const CodesTable::Halves* CodesTable::halves(const std::string& symbol) const {
  const auto found = halves_.find(symbol);
  return found == halves_.end() ? nullptr : &found->second;
}

std::string_view strip_blanks(std::string_view text) {
  const size_t begin = text.find_first_not_of("\r ");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of("\r ") - begin + 1);
}

size_t first_character_bytes(std::string_view text) {
  size_t end = 0;
  next_code_point(text, end);
  return end;
}

std::vector<std::string> cut_word(const CodesTable& table, std::string_view word,
                                  MergeDraws* draws) {
  return Word(table, word).cut(draws);
}

}  // namespace tx
