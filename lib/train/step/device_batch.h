// A training batch in device memory: one block, uploaded in one copy.
#pragma once
#include <span>
#include <vector>

#include "lib/data/packing.h"
#include "lib/model/packed_side.h"
#include "lib/model/parameters.h"

namespace tx {

// A batch may hold every sentence twice, for a consistency loss: the second copies have other
// dropout masks, and a share `cutoff` of their rows has no token.
struct Copies {
  bool twice = false;
  double cutoff = 0;
  uint64_t seed = 1;  // of the choice of rows, which also depends on epoch, pair, position and side
};

class DeviceBatch {
 public:
  // Positions are clamped to `longest` - 1: a dummy sentence may be longer than any real one, and
  // has no loss there. Without `with_links` alignments are not uploaded.
  DeviceBatch(Backend& backend, const Parameters& parameters, int64_t longest, bool with_links);

  // Replaces the current batch, in stream order. Does nothing if both have the same serial number
  // and the same number of copies. Labels and links are not repeated.
  void upload(const Batch& batch, const Copies& copies = {});

  // Of the current batch. If steps are replayed as CUDA graphs, the number of sentences is padded
  // with empty ones to a multiple of 256, so that few graphs are recorded.
  const std::vector<PackedSide>& sides() const { return sides_; }
  const int32_t* labels() const { return labels_; }
  const int32_t* link_starts() const { return link_starts_; }  // null: none
  const int32_t* link_columns() const { return link_columns_; }
  // Unless these change, batches of as many sentences have all their arrays at the same addresses.
  std::vector<const void*> places() const;

 private:
  struct Places {  // in the block
    size_t ids = 0, by_id = 0, cut = 0, pair = 0, position = 0, offsets = 0;
  };
  void put_batch(const Batch& batch, const Copies& copies);
  template <class T>
  size_t put(std::span<const T> values);
  Places put_rows(const BatchSide& side, size_t number, const std::vector<int32_t>& cut);
  PackedSide side_at(const Places& at, int64_t rows, int64_t sentences) const;

  Backend& backend_;
  const Parameters& parameters_;
  uint32_t longest_;
  bool with_links_;
  std::vector<int32_t> host_;  // the block before its upload
  DeviceInts block_;
  uint64_t serial_ = 0;  // of the current batch; 0: none
  bool twice_ = false, has_cut_ = false;
  std::vector<PackedSide> sides_;
  const int32_t *labels_ = nullptr, *link_starts_ = nullptr, *link_columns_ = nullptr;
};

}  // namespace tx
