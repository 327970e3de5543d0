// The vocabularies of a model or of a corpus, one per side.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "lib/subword/vocabulary.h"

namespace tx {

class Vocabularies {
 public:
  using Pointer = std::shared_ptr<const Vocabulary>;
  Vocabularies() = default;
  // In the order of the sides; none is null. Sides may share one object.
  Vocabularies(std::vector<Pointer> sides) : sides_(std::move(sides)) {}
  // One for `sides` sides.
  Vocabularies(const Pointer& all, size_t sides) : sides_(sides, all) {}

  size_t size() const { return sides_.size(); }
  const Vocabulary& operator[](size_t side) const { return *sides_.at(side); }
  const Pointer& pointer(size_t side) const { return sides_.at(side); }
  const Vocabulary& source() const { return *sides_.front(); }  // of what is read first
  const Vocabulary& target() const { return *sides_.back(); }   // of what is predicted
  // Whether all sides have the same one, byte for byte.
  bool shared() const {
    return std::all_of(sides_.begin(), sides_.end(),
                       [&](const Pointer& v) { return v->bytes() == source().bytes(); });
  }
  std::vector<int64_t> sizes() const {
    std::vector<int64_t> sizes;
    for (const Pointer& v : sides_) sizes.push_back(v->size());
    return sizes;
  }

 private:
  std::vector<Pointer> sides_;
};

}  // namespace tx
