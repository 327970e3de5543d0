// The tokens that each sentence of a batch may have, as columns of logits that hold the union of
// all lists. What a sentence sees is its own list, whatever the others have.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "lib/tensor/device_ints.h"

namespace tx {

class TokenLists {
 public:
  TokenLists(Backend& backend, int64_t vocabulary)
      : columns_(backend), place_(size_t(vocabulary), -1) {}

  using Lists = std::vector<std::vector<int32_t>>;  // ids, ascending, none empty
  void clear();
  // Further sentences, numbered from 0 on since clear(). The union becomes that of all that are
  // there.
  void add(Lists lists);
  void release(int32_t sentence);                           // the union stays as it is
  const std::vector<int32_t>& all() const { return all_; }  // the union, ascending

  struct View {
    std::span<const int32_t> ids;
    const int32_t* columns;  // their places in all(), in the backend's memory
    int64_t size() const { return int64_t(ids.size()); }
  };
  View of(int32_t sentence) const;

 private:
  struct List {
    std::vector<int32_t> ids;
    size_t first = 0;  // in columns_
  };
  std::vector<List> lists_;  // by sentence; empty where it has left
  std::vector<int32_t> all_;
  DeviceInts columns_;
  std::vector<int32_t> place_;  // of each id in all_, -1: not there
};

}  // namespace tx
