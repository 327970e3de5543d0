#include "lib/attention/extraction.h"

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"

namespace tx {

AttentionMap mean_of(std::span<const AttentionMap> maps) {
  AttentionMap out = maps.front();
  for (size_t i = 0; i < out.weights.size(); ++i) {
    double sum = 0;
    for (const AttentionMap& map : maps) sum += double(map.weights[i]);
    out.weights[i] = float(sum / double(maps.size()));
  }
  return out;
}

Extraction::Extraction(Backend& backend, const Transformer& transformer, DType dtype,
                       Selection selection)
    : backend_(backend),
      transformer_(transformer),
      dtype_(dtype),
      selection_(std::move(selection)),
      source_(backend),
      target_(backend) {}

Extraction::~Extraction() {
  on(backend_, [&](auto& k) { k.release(map_); });
}

PackedSide Extraction::pack(Side& side, std::span<const int> ids) {
  const int32_t offsets[] = {0, int32_t(ids.size())};
  std::vector<uint32_t> pair(ids.size(), 0), position(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) position[i] = uint32_t(i);
  PackedSide out;
  out.ids = side.ids.set<int32_t>(ids);
  out.offsets = side.offsets.set<int32_t>(offsets);
  out.keys = {side.pair.set<uint32_t>(pair), side.position.set<uint32_t>(position)};
  out.rows = int64_t(ids.size());
  out.sentences = 1;
  return out;
}

void Extraction::forward(Context& context, const PackedSide& source, const PackedSide& target,
                         const AttentionProbe& probe) const {
  const Tensor memory =
      transformer_.memory(context, transformer_.encode(context, source, {}, probe));
  transformer_.decode(context, target, memory, source, {}, probe);
}

void Extraction::reserve(const PackedSide& source, const PackedSide& target) {
  Arena counting;
  Context context(backend_, counting, dtype_);
  forward(context, source, target, {});
  if (counting.peak() > arena_bytes_) {
    arena_.reset();
    arena_bytes_ = counting.peak() + counting.peak() / 4;
    arena_ = std::make_unique<Arena>(backend_, arena_bytes_);
  }
  const int64_t longest = std::max(source.rows, target.rows);
  const size_t bytes = size_t(longest * longest) * sizeof(float);
  if (bytes <= map_bytes_) return;
  on(backend_, [&](auto& k) {
    k.release(map_);
    map_ = nullptr;
    map_ = k.allocate(bytes);
  });
  map_bytes_ = bytes;
}

std::vector<AttentionMap> Extraction::read(Context& context, const AttentionInput& input,
                                           int64_t rows, int64_t columns) {
  std::vector<AttentionMap> maps;
  for (const int head : selection_.heads) {
    attention_weights(context, input, 0, head, matrix(map_, DType::f32, rows, columns));
    AttentionMap map{rows, columns, std::vector<float>(size_t(rows * columns))};
    on(backend_,
       [&](auto& k) { k.download(map.weights.data(), map_, map.weights.size() * sizeof(float)); });
    const auto finite = [](float w) { return std::isfinite(w); };
    if (!std::all_of(map.weights.begin(), map.weights.end(), finite)) {
      throw DataError("the model gives attention weights that are not numbers: it is damaged");
    }
    maps.push_back(std::move(map));
  }
  if (selection_.mean_of_heads) return {mean_of(maps)};
  return maps;
}

std::vector<AttentionMaps> Extraction::run(std::span<const int> source,
                                           std::span<const int> input) {
  const int64_t longest = transformer_.longest();
  TX_ASSERT(!source.empty() && int64_t(source.size()) <= longest);
  TX_ASSERT(!input.empty() && int64_t(input.size()) <= longest);
  const PackedSide from = pack(source_, source), to = pack(target_, input);
  reserve(from, to);
  std::vector<AttentionMaps> out(selection_.kinds.size());
  Context context(backend_, *arena_, dtype_);
  forward(context, from, to, [&](const char* name, int layer, const AttentionInput& attention) {
    const Selection::Kind* kind = selection_.find(name);
    if (!kind || std::count(kind->layers.begin(), kind->layers.end(), layer) == 0) return;
    const int64_t rows = kind->kind == AttentionKind::encoder ? from.rows : to.rows;
    const int64_t columns = kind->kind == AttentionKind::decoder ? to.rows : from.rows;
    out[size_t(kind - selection_.kinds.data())].push_back(read(context, attention, rows, columns));
  });
  if (!selection_.mean_of_layers) return out;
  for (AttentionMaps& maps : out) {
    std::vector<AttentionMap> layers;
    for (auto& layer : maps) layers.push_back(std::move(layer.front()));
    maps = {{mean_of(layers)}};
  }
  return out;
}

}  // namespace tx
