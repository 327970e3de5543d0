#include "lib/search/engine/line_encoder.h"

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/subword/languages.h"

namespace tx {

LineEncoder::LineEncoder(Backend& backend, const ModelSet& models, int choices)
    : backend_(backend),
      models_(models),
      choices_(choices),
      transformer_(*models.transformers().front()),
      closing_(encoder_closing(models.source())),
      side_(backend) {
  TX_ASSERT(models.kind() == ModelKind::encoder);
}

void LineEncoder::reserve(int64_t rows, size_t sentences) {
  Arena counting;
  Context context(backend_, counting, models_.dtype());
  PackedSide side;
  side.rows = rows;
  side.sentences = int64_t(sentences);
  transformer_.forward(context, {&side, 1});
  if (counting.peak() > arena_bytes_) {
    arena_.reset();
    arena_bytes_ = counting.peak() + counting.peak() / 4;
    arena_ = std::make_unique<Arena>(backend_, arena_bytes_);
  }
  const ModelConfig& config = transformer_.config();
  const size_t bytes =
      size_t(std::max(rows * config.d_model, config.target().vocabulary)) * sizeof(float);
  if (bytes <= buffer_bytes_) return;
  backend_->release(buffer_);
  buffer_ = nullptr;
  buffer_ = backend_->allocate(bytes);
  buffer_bytes_ = bytes;
}

std::vector<float> LineEncoder::download(Matrix from) {
  std::vector<float> values(size_t(from.rows * from.cols));
  if (from.data != buffer_)
    backend_->convert(from, matrix(buffer_, DType::f32, from.rows, from.cols));
  backend_->download(values.data(), buffer_, values.size() * sizeof(float));
  for (const float x : values) check_number(x);
  return values;
}

// The first row of a sentence is that of <bos>, which the mean leaves out. In a model of another
// toolkit, whose texts also end with a special token, the mean includes both.
void LineEncoder::read_vectors(std::span<const Source* const> sources, Matrix hidden,
                               std::span<const int32_t> offsets, Outputs out) {
  const std::vector<float> all = download(hidden);
  const size_t width = size_t(hidden.cols), skipped = closing_.empty() ? 1 : 0;
  for (size_t s = 0; s < out.size(); ++s) {
    const size_t first = size_t(offsets[s]), last = size_t(offsets[s + 1]);
    std::vector<float>& vector = out[s].front().vector;
    if (sources[s]->encoding == Encoding::first)
      vector.assign(all.begin() + ptrdiff_t(first * width),
                    all.begin() + ptrdiff_t((first + 1) * width));
    for (size_t i = 0; i < width && sources[s]->encoding == Encoding::mean; ++i) {
      double sum = 0;
      for (size_t row = first + skipped; row < last; ++row) sum += double(all[row * width + i]);
      vector.push_back(float(sum / double(last - first - skipped)));
    }
    if (!transformer_.config().unit_vectors) continue;
    double square = 0;
    for (const float x : vector) square += double(x) * double(x);
    for (float& x : vector) x = float(double(x) / std::max(std::sqrt(square), 1e-12));
  }
}

std::vector<MaskChoice> LineEncoder::best_tokens(Matrix logits) {
  const int64_t vocabulary = transformer_.config().target().vocabulary;
  const Matrix log_p = matrix(buffer_, DType::f32, 1, vocabulary);
  backend_->log_softmax(logits, vocabulary, log_p);
  const std::vector<float> values = download(log_p);
  const std::vector<int> forbidden = models_.forbidden();
  std::vector<int> order;
  for (int id = 0; id < int(vocabulary); ++id)
    if (id != Vocabulary::eos && std::count(forbidden.begin(), forbidden.end(), id) == 0)
      order.push_back(id);
  if (order.empty())
    throw DataError(models_.name() + " forbids every token: no mask can be filled");
  const size_t count = std::min(order.size(), size_t(choices_));
  std::partial_sort(order.begin(), order.begin() + ptrdiff_t(count), order.end(),
                    [&](int a, int b) {
                      const float x = values[size_t(a)], y = values[size_t(b)];
                      return x != y ? x > y : a < b;
                    });
  std::vector<MaskChoice> best;
  for (size_t i = 0; i < count; ++i)
    best.push_back({order[i], std::exp(double(values[size_t(order[i])]))});
  return best;
}

void LineEncoder::run_batch(std::span<const Source* const> sources, Outputs out) {
  std::vector<std::vector<int>> sentences;
  std::vector<int32_t> offsets{0};
  bool masks = false, vectors = false;
  for (const Source* source : sources) {
    std::vector<int>& ids = sentences.emplace_back(source->ids);
    ids.insert(ids.begin(), Vocabulary::bos);
    ids.insert(ids.end(), closing_.begin(), closing_.end());
    offsets.push_back(offsets.back() + int32_t(ids.size()));
    (source->encoding == Encoding::masks ? masks : vectors) = true;
  }
  reserve(offsets.back(), sentences.size());
  const std::vector<std::span<const int>> spans(sentences.begin(), sentences.end());
  const PackedSide side = side_.upload(spans);
  Context context(backend_, *arena_, models_.dtype());
  Tensor hidden = transformer_.hidden(context, {&side, 1});
  if (vectors) read_vectors(sources, hidden.value(), offsets, out);
  if (!masks) return;
  const Tensor logits = transformer_.logits(context, std::move(hidden));
  for (size_t s = 0; s < sources.size(); ++s) {
    if (sources[s]->encoding != Encoding::masks) continue;
    TokenHypothesis& filled = out[s].front();
    filled.ids = sources[s]->ids;
    for (size_t i = 0; i < filled.ids.size(); ++i) {
      if (filled.ids[i] != mask_token) continue;
      const int64_t row = offsets[s] + int64_t(i) + 1;
      filled.masks.push_back(best_tokens(logits.value().slice(row, 1)));
      filled.ids[i] = filled.masks.back().front().token;
    }
  }
}

std::vector<std::vector<TokenHypothesis>> LineEncoder::run(std::span<const Source* const> sources,
                                                           int64_t at_a_time) {
  std::vector<std::vector<TokenHypothesis>> out(sources.size(), {TokenHypothesis()});
  for (size_t begin = 0, end = 0; begin < sources.size(); begin = end) {
    int64_t tokens = 0;
    do tokens += cost_of(*sources[end++]);
    while (end < sources.size() && tokens + cost_of(*sources[end]) <= at_a_time);
    run_batch(sources.subspan(begin, end - begin), Outputs(out).subspan(begin, end - begin));
  }
  return out;
}

}  // namespace tx
