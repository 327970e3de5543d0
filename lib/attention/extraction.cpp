#include "lib/attention/extraction.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "lib/base/error.h"

namespace tx {

namespace {

constexpr int64_t labels_together = 16;  // rows of log P per download

void check_finite(const std::vector<float>& values) {
  const auto finite = [](float x) { return std::isfinite(x); };
  if (std::all_of(values.begin(), values.end(), finite)) return;
  throw DataError("the model computes attention weights that are not finite: it is damaged");
}

// Recomputes scores from queries and keys, because the kernels do not store scores.
std::vector<AttentionMap> dot_products(const std::vector<AttentionMap>& q,
                                       const std::vector<AttentionMap>& k) {
  std::vector<AttentionMap> out;
  for (size_t head = 0; head < q.size(); ++head) {
    const AttentionMap &a = q[head], &b = k[head];
    AttentionMap& map = out.emplace_back();
    map.rows = a.rows;
    map.columns = b.rows;
    map.values.reserve(size_t(map.rows * map.columns));
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t j = 0; j < b.rows; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < a.columns; ++l) sum += double(a.at(i, l)) * double(b.at(j, l));
        map.values.push_back(float(sum));
      }
  }
  return out;
}

std::vector<AttentionMap> multiplied(const std::vector<AttentionMap>& scores, double factor) {
  std::vector<AttentionMap> out = scores;
  for (AttentionMap& map : out)
    for (float& x : map.values) x = float(double(x) * factor);
  return out;
}

void take_distances(AttentionMap& scores, double slope) {
  for (int64_t i = 0; i < scores.rows; ++i)
    for (int64_t j = 0; j < scores.columns; ++j) {
      float& x = scores.values[size_t(i * scores.columns + j)];
      x = float(double(x) - slope * double(std::abs(i - j)));
    }
}

// biases (1, heads * buckets), of relative positions.
void add_biases(AttentionMap& scores, const AttentionMap& biases, int head,
                const ModelConfig& config, const std::vector<int32_t>& bucket) {
  const int reach = config.distance_reach;
  for (int64_t i = 0; i < scores.rows; ++i)
    for (int64_t j = 0; j < scores.columns; ++j)
      scores.values[size_t(i * scores.columns + j)] +=
          biases.values[size_t(head * config.distance_buckets +
                               bucket[size_t(std::clamp<int64_t>(j - i, -reach, reach) + reach)])];
}

template <class Hidden>
void mask(std::vector<AttentionMap>& scores, const Hidden& hidden) {
  for (AttentionMap& map : scores)
    for (int64_t i = 0; i < map.rows; ++i)
      for (int64_t j = 0; j < map.columns; ++j)
        if (hidden(i, j))
          map.values[size_t(i * map.columns + j)] = -std::numeric_limits<float>::infinity();
}

}  // namespace

AttentionMap mean_of(std::span<const AttentionMap> maps) {
  AttentionMap out = maps.front();
  for (size_t i = 0; i < out.values.size(); ++i) {
    double sum = 0;
    for (const AttentionMap& map : maps) sum += double(map.values[i]);
    out.values[i] = float(sum / double(maps.size()));
  }
  return out;
}

// The sentence whose attention is read; each of `sides` holds this sentence alone.
struct Extraction::Sentence {
  std::span<const PackedSide> sides;
  int64_t rows(AttentionKind kind) const {
    return kind == AttentionKind::encoder ? sides.front().rows : sides.back().rows;
  }
  int64_t columns(AttentionKind kind) const {
    return kind == AttentionKind::decoder ? sides.back().rows : sides.front().rows;
  }
};

Extraction::Extraction(Backend& backend, const Transformer& transformer, DType dtype,
                       Selection selection)
    : backend_(backend),
      transformer_(transformer),
      dtype_(dtype),
      selection_(std::move(selection)) {
  while (sides_.size() < transformer.config().sides.size()) sides_.emplace_back(backend);
}

Extraction::~Extraction() { backend_->release(room_); }

bool Extraction::wants(Quantity quantity) const {
  return std::count(selection_.what.begin(), selection_.what.end(), quantity) > 0;
}

// Runs the model. Returns the logits with selection.log_p, else the last hidden states.
Tensor Extraction::pass(Context& context, std::span<const PackedSide> sides,
                        const AttentionProbe& probe) {
  return selection_.log_p ? transformer_.forward(context, sides, {}, probe)
                          : transformer_.hidden(context, sides, {}, probe);
}

void Extraction::reserve(std::span<const PackedSide> sides) {
  Arena counting;
  Context context(backend_, counting, dtype_);
  pass(context, sides, {});
  if (counting.peak() > arena_bytes_) {
    arena_.reset();
    arena_bytes_ = counting.peak() + counting.peak() / 4;
    arena_ = std::make_unique<Arena>(backend_, arena_bytes_);
  }
  int64_t longest = 0;
  for (const PackedSide& side : sides) longest = std::max(longest, side.rows);
  const ModelConfig& config = transformer_.config();
  const AttentionShape shape = transformer_.attention_shape();
  const int64_t widest =
      std::max({longest, shape.queries(), shape.outputs(), int64_t(config.d_model)});
  const int64_t logits = selection_.log_p ? labels_together * config.target().vocabulary : 0;
  const size_t bytes = size_t(std::max(longest * widest, logits)) * sizeof(float);
  if (bytes <= room_bytes_) return;
  backend_->release(room_);
  room_ = nullptr;
  room_ = backend_->allocate(bytes);
  room_bytes_ = bytes;
}

std::vector<AttentionMap> Extraction::read_weights(Context& context, const AttentionInput& input,
                                                   int64_t rows, int64_t columns) {
  std::vector<AttentionMap> maps;
  for (const int head : selection_.heads) {
    const Matrix weights = matrix(room_, DType::f32, rows, columns);
    attention_weights(context, input, 0, head, weights);
    maps.push_back(download(weights));
  }
  if (selection_.mean_of_heads) return {mean_of(maps)};
  return maps;
}

// A matrix in the backend's memory as f32 on the host; it may be the staging buffer itself.
AttentionMap Extraction::download(Matrix from) {
  AttentionMap out{from.rows, from.cols, std::vector<float>(size_t(from.rows * from.cols))};
  if (from.data != room_) backend_->convert(from, matrix(room_, DType::f32, from.rows, from.cols));
  backend_->download(out.values.data(), room_, out.values.size() * sizeof(float));
  check_finite(out.values);
  return out;
}

// The selected heads' columns, `width` per head or per group of heads (grouped-query attention).
std::vector<AttentionMap> Extraction::heads_of(Matrix from, int width) {
  const AttentionMap all = download(from);
  const int64_t heads = transformer_.attention_shape().heads, held = all.columns / width;
  std::vector<AttentionMap> out;
  for (const int selected : selection_.heads) {
    const int64_t head = selected * held / heads;
    AttentionMap& one = out.emplace_back();
    one.rows = all.rows;
    one.columns = width;
    for (int64_t row = 0; row < all.rows; ++row) {
      const auto first = all.values.begin() + row * all.columns + head * width;
      one.values.insert(one.values.end(), first, first + width);
    }
  }
  return out;
}

// Called before an attention layer with its inputs (a.packed), and after it with its outputs.
void Extraction::read(Context& context, const ProbedAttention& a, const Sentence& sentence,
                      Extracted& out) {
  const Selection::Kind* kind = selection_.find(a.kind);
  if (!kind || std::count(kind->layers.begin(), kind->layers.end(), a.layer) == 0) return;
  const AttentionShape shape = transformer_.attention_shape();
  const auto put = [&](Quantity quantity, auto&& make) {
    if (!wants(quantity)) return;
    auto& kinds = quantity == Quantity::weights ? out.maps : out.parts.at(quantity);
    kinds[size_t(kind - selection_.kinds.data())].push_back(make());
  };
  if (!a.packed) {
    put(Quantity::context, [&] { return heads_of(a.heads->value(), shape.d_v); });
    put(Quantity::output, [&] { return std::vector{download(a.output->value())}; });
    return;
  }
  const AttentionInput& in = *a.packed;
  put(Quantity::weights, [&] {
    return read_weights(context, in, sentence.rows(kind->kind), sentence.columns(kind->kind));
  });
  const bool scores = wants(Quantity::scores), scaled = wants(Quantity::scaled);
  const bool masked = wants(Quantity::masked), dots = scores || scaled || masked;
  std::vector<AttentionMap> q, k;
  if (dots || wants(Quantity::q))
    q = heads_of(in.q.value().columns(in.q_column, shape.queries()), shape.d_k);
  if (dots || wants(Quantity::k))
    k = heads_of(in.k.value().columns(in.k_column, shape.keys()), shape.d_k);
  if (dots) {
    const std::vector<AttentionMap> raw = dot_products(q, k);
    put(Quantity::scores, [&] { return raw; });
    put(Quantity::scaled, [&] { return multiplied(raw, shape.scale); });
    put(Quantity::masked, [&] {
      auto out = multiplied(raw, shape.scale);
      for (size_t i = 0; in.slopes && i < out.size(); ++i)
        take_distances(out[i], alibi_slopes(shape.heads)[size_t(selection_.heads[i])]);
      if (in.biases) {
        const ModelConfig& config = transformer_.config();
        const AttentionMap biases = download(in.biases.value);
        const auto bucket = distance_buckets(config.distance_buckets, config.distance_reach,
                                             kind->kind != AttentionKind::decoder);
        for (size_t i = 0; i < out.size(); ++i)
          add_biases(out[i], biases, selection_.heads[i], config, bucket);
      }
      if (in.causal) mask(out, [](int64_t i, int64_t j) { return j > i; });
      if (in.window) mask(out, [&](int64_t i, int64_t j) { return std::abs(i - j) >= in.window; });
      return out;
    });
  }
  put(Quantity::q, [&] { return std::move(q); });
  put(Quantity::k, [&] { return std::move(k); });
  put(Quantity::v,
      [&] { return heads_of(in.v.value().columns(in.v_column, shape.values()), shape.d_v); });
}

void Extraction::read_labels(Matrix logits, std::span<const int> labels, Extracted& out) {
  const int64_t vocabulary = transformer_.config().target().vocabulary;
  for (int64_t first = 0; first < logits.rows; first += labels_together) {
    const int64_t rows = std::min(labels_together, logits.rows - first);
    const Matrix log_p = matrix(room_, DType::f32, rows, vocabulary);
    backend_->log_softmax(logits.slice(first, rows), vocabulary, log_p);
    const AttentionMap all = download(log_p);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t label = labels[size_t(first + row)];
      const float own = all.at(row, label);
      int64_t rank = 1;
      for (int64_t id = 0; id < vocabulary; ++id)  // ties: the lower id ranks first
        rank += all.at(row, id) > own || (id < label && all.at(row, id) == own);
      out.log_p.push_back(own);
      out.rank.push_back(rank);
    }
  }
}

Extracted Extraction::run(const std::vector<std::vector<int>>& ids, std::span<const int> labels) {
  TX_ASSERT(ids.size() == sides_.size());
  TX_ASSERT(!selection_.log_p || labels.size() == ids.back().size());
  std::vector<PackedSide> sides;
  for (size_t i = 0; i < ids.size(); ++i) {
    TX_ASSERT(!ids[i].empty() && int64_t(ids[i].size()) <= transformer_.longest());
    const std::span<const int> sentence(ids[i]);
    sides.push_back(sides_[i].upload({&sentence, 1}));
  }
  reserve(sides);
  Extracted out;
  for (const Quantity quantity : selection_.what)
    (quantity == Quantity::weights ? out.maps : out.parts[quantity])
        .resize(selection_.kinds.size());
  Context context(backend_, *arena_, dtype_);
  const Sentence sentence{sides};
  const Tensor last =
      pass(context, sides, [&](const ProbedAttention& a) { read(context, a, sentence, out); });
  if (selection_.log_p) read_labels(last.value(), labels, out);
  if (!selection_.mean_of_layers) return out;
  for (AttentionMaps& maps : out.maps) {
    std::vector<AttentionMap> layers;
    for (auto& layer : maps) layers.push_back(std::move(layer.front()));
    maps = {{mean_of(layers)}};
  }
  return out;
}

}  // namespace tx
