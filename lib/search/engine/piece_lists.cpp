#include "lib/search/engine/piece_lists.h"

#include "lib/base/error.h"

namespace tx {

void TokenLists::clear() {
  lists_.clear();
  all_.clear();
}

void TokenLists::add(Lists lists) {
  for (std::vector<int32_t>& ids : lists) {
    TX_ASSERT(!ids.empty());
    lists_.push_back({std::move(ids), 0});
  }
  std::fill(place_.begin(), place_.end(), -1);
  for (const List& list : lists_)
    for (const int32_t id : list.ids) place_[size_t(id)] = 0;
  all_.clear();
  for (size_t id = 0; id < place_.size(); ++id) {
    if (place_[id] < 0) continue;
    place_[id] = int32_t(all_.size());
    all_.push_back(int32_t(id));
  }
  std::vector<int32_t> columns;
  for (List& list : lists_) {
    list.first = columns.size();
    for (const int32_t id : list.ids) columns.push_back(place_[size_t(id)]);
  }
  columns_.set<int32_t>(columns);
}

void TokenLists::release(int32_t sentence) { lists_.at(size_t(sentence)).ids.clear(); }

TokenLists::View TokenLists::of(int32_t sentence) const {
  const List& list = lists_.at(size_t(sentence));
  TX_ASSERT(!list.ids.empty());
  return {list.ids, columns_.data() + list.first};
}

}  // namespace tx
