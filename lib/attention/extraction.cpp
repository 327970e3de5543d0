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

void Extraction::reserve(std::span<const PackedSide> sides) {
  Arena counting;
  Context context(backend_, counting, dtype_);
  transformer_.hidden(context, sides);
  if (counting.peak() > arena_bytes_) {
    arena_.reset();
    arena_bytes_ = counting.peak() + counting.peak() / 4;
    arena_ = std::make_unique<Arena>(backend_, arena_bytes_);
  }
  int64_t longest = 0;
  for (const PackedSide& side : sides) longest = std::max(longest, side.rows);
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
  const PackedSide sides[] = {source_.upload({&source, 1}), target_.upload({&input, 1})};
  const PackedSide &from = sides[0], &to = sides[1];
  reserve(sides);
  std::vector<AttentionMaps> out(selection_.kinds.size());
  Context context(backend_, *arena_, dtype_);
  transformer_.hidden(context, sides, {}, [&](const ProbedAttention& a) {
    const Selection::Kind* kind = selection_.find(a.kind);
    if (!kind || std::count(kind->layers.begin(), kind->layers.end(), a.layer) == 0) return;
    const int64_t rows = kind->kind == AttentionKind::encoder ? from.rows : to.rows;
    const int64_t columns = kind->kind == AttentionKind::decoder ? to.rows : from.rows;
    out[size_t(kind - selection_.kinds.data())].push_back(read(context, *a.packed, rows, columns));
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
