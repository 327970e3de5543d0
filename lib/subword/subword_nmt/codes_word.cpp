#include <queue>

#include "lib/subword/subword_nmt/codes_table.h"

namespace tx {
namespace {

// A word in the making: linked symbols, possible merges in a heap. All places of the first merge
// are done, from the left, before the next is sought.
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
    std::vector<Possible> done, left_out;
    while (!heap_.empty()) {
      take_first(draws, done, left_out);
      if (done.empty()) continue;
      for (const Possible& possible : done) merge(possible);
      for (const Possible& possible : left_out) heap_.push(possible);
      left_out.clear();
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

  // Moves the places of the first merge out of the heap: those to be done, those left out.
  void take_first(MergeDraws* draws, std::vector<Possible>& done, std::vector<Possible>& left_out) {
    done.clear();
    const int rank = heap_.top().merge->rank;
    while (!heap_.empty() && heap_.top().merge->rank == rank) {
      const Possible possible = heap_.top();
      heap_.pop();
      if (stale(possible)) continue;
      (draws != nullptr && draws->drop() ? left_out : done).push_back(possible);
    }
  }

  void merge(const Possible& possible) {
    if (stale(possible)) return;  // its left symbol went into the place before
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

std::vector<std::string> cut_word(const CodesTable& table, std::string_view word,
                                  MergeDraws* draws) {
  return Word(table, word).cut(draws);
}

}  // namespace tx
