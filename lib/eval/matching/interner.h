// Numbers for keys: the first key seen becomes 0, the next new one 1, and so on. Made for many
// small sets one after another (the words or n-grams of one segment): clear() costs nothing, and
// the memory of the largest set is kept.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace tx {

template <typename Key>  // std::string_view (the caller keeps the bytes alive) or uint64_t
class Interner {
 public:
  static constexpr int32_t none = -1;

  Interner() : slots_(64) {}

  void clear() {
    size_ = 0;
    ++round_;
  }

  int32_t size() const { return size_; }

  // The number of key, or none.
  int32_t find(const Key& key) const {
    const Slot& slot = slots_[place(key)];
    return slot.round == round_ ? slot.number : none;
  }

  // The number of the key; a new one where it has not been seen since clear().
  int32_t insert(const Key& key) {
    if (size_t(size_) * 2 >= slots_.size()) grow();
    Slot& slot = slots_[place(key)];
    if (slot.round != round_) slot = {key, round_, size_++};
    return slot.number;
  }

 private:
  struct Slot {
    Key key{};
    uint64_t round = 0;  // in use where equal to round_
    int32_t number = none;
  };

  // Where the key is or would go: linear probing in a table at most half full.
  size_t place(const Key& key) const {
    const size_t mask = slots_.size() - 1;
    size_t i = (std::hash<Key>{}(key)*golden_ratio >> 32) & mask;
    while (slots_[i].round == round_ && slots_[i].key != key) i = (i + 1) & mask;
    return i;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.round == round_) slots_[place(slot.key)] = slot;
    }
  }

  // std::hash of an integer is the integer itself: the product spreads it over the upper bits.
  static constexpr uint64_t golden_ratio = 0x9E3779B97F4A7C15u;

  std::vector<Slot> slots_;  // a power of two
  uint64_t round_ = 1;
  int32_t size_ = 0;
};

}  // namespace tx
