// A batch of training in the backend's memory: one block, which comes there in one copy.
#pragma once
#include <span>
#include <vector>

#include "lib/data/packing.h"
#include "lib/model/packed_side.h"
#include "lib/model/parameters.h"

namespace tx {

class DeviceBatch {
 public:
  // Positions from `longest` on become the last one below it: a dummy may be longer than any real
  // sentence, and there is no loss at its positions. Without `with_links`, links are left out.
  DeviceBatch(Backend& backend, const Parameters& parameters, int64_t longest, bool with_links);

  // Replaces the batch before, which work that the backend was given until now still reads. Does
  // nothing where the one before has the same serial number.
  void upload(const Batch& batch);

  // Of the last batch. Where steps are replayed, empty sentences stand behind its own, up to a
  // multiple of 256: few numbers of sentences occur then, and each is recorded once.
  const std::vector<PackedSide>& sides() const { return sides_; }
  const int32_t* labels() const { return labels_; }
  const int32_t* link_starts() const { return link_starts_; }  // null: there are none
  const int32_t* link_columns() const { return link_columns_; }
  // While these stay the same, so do the arrays of all batches with one number of sentences.
  std::vector<const void*> places() const;

 private:
  struct Places {  // in the block
    size_t ids = 0, by_id = 0, pair = 0, position = 0, offsets = 0;
  };
  template <class T>
  size_t put(std::span<const T> values);
  Places put_rows(const BatchSide& side, size_t number);
  PackedSide side_at(const Places& at, int64_t rows, int64_t sentences) const;

  Backend& backend_;
  const Parameters& parameters_;
  uint32_t longest_;
  bool with_links_;
  std::vector<int32_t> host_;  // the block, as it is put together
  DeviceInts block_;
  uint64_t serial_ = 0;  // of the batch that is there; 0: of none that could come again
  std::vector<PackedSide> sides_;
  const int32_t *labels_ = nullptr, *link_starts_ = nullptr, *link_columns_ = nullptr;
};

}  // namespace tx
