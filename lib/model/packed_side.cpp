#include "lib/model/packed_side.h"

namespace tx {

PackedSide DeviceSide::upload(const HostSide& side) {
  TX_ASSERT(!side.offsets.empty() && side.pair.size() == side.ids.size() &&
            side.position.size() == side.ids.size());
  PackedSide p;
  p.ids = ids_.set<int32_t>(side.ids);
  p.offsets = offsets_.set<int32_t>(side.offsets);
  p.keys = {pair_.set<uint32_t>(side.pair), position_.set<uint32_t>(side.position)};
  p.rows = int64_t(side.ids.size());
  p.sentences = int64_t(side.offsets.size()) - 1;
  return p;
}

PackedSide DeviceSide::upload(std::span<const std::span<const int>> sentences) {
  std::vector<int32_t> ids, offsets{0};
  std::vector<uint32_t> pair, position;
  for (size_t s = 0; s < sentences.size(); ++s) {
    for (size_t i = 0; i < sentences[s].size(); ++i) {
      ids.push_back(sentences[s][i]);
      pair.push_back(uint32_t(s));
      position.push_back(uint32_t(i));
    }
    offsets.push_back(int32_t(ids.size()));
  }
  return upload({ids, offsets, pair, position});
}

}  // namespace tx
