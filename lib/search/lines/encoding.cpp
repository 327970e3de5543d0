#include "lib/search/lines/encoding.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/utf8.h"
#include "lib/checkpoint/safetensors.h"
#include "lib/search/engine/hypothesis.h"
#include "lib/search/lines/lines.h"
#include "lib/subword/vocabulary.h"

namespace tx {
namespace {

constexpr int wait_ms = 1;  // for the next line, to form larger batches
constexpr size_t max_batch_lines = 1024;

std::string six_digits(double x) { return formatted("%.6g", x); }

}  // namespace

LineEncoder::LineEncoder(const ModelSet& models, const EncodingOptions& options,
                         const TranslatorOptions& machine)
    : models_(models),
      options_(options),
      nbest_(machine.search.nbest),
      transformer_(*models.transformers().front()),
      backend_(make_backend(models.device(), machine.threads)),
      side_(backend_),
      longest_(std::min(machine.max_source, models.longest() - 1)),
      batch_tokens_(machine.batch_tokens > 0 ? machine.batch_tokens : usual_cpu_batch) {
  TX_ASSERT(models.kind() == ModelKind::encoder);
}

std::vector<int> parse_masked(const std::string& text, const Vocabulary& vocabulary) {
  std::vector<int> ids, part;
  const size_t width = sizeof mask_text - 1;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t mask = std::min(text.find(mask_text, begin), text.size());
    const std::string between = text.substr(begin, mask - begin);
    if (!is_blank(between)) {
      vocabulary.encode(between, part);
      ids.insert(ids.end(), part.begin(), part.end());
    }
    if (mask == text.size()) break;
    ids.push_back(mask_token);
    begin = mask + width;
  }
  return ids;
}

std::string unknown_masked(std::string text, std::span<const int> ids,
                           const Vocabulary& vocabulary) {
  for (size_t at; (at = text.find(mask_text)) != text.npos;)
    text.replace(at, sizeof mask_text - 1, " ");
  return unknown_text(text, ids, LineForm::text, vocabulary);
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

// The first row of a sentence is that of <bos>; the mean is over the others.
void LineEncoder::read_vectors(Matrix hidden, std::span<const int32_t> offsets,
                               std::vector<EncodedLine*>& out) {
  const std::vector<float> all = download(hidden);
  const size_t width = size_t(hidden.cols);
  for (size_t s = 0; s < out.size(); ++s) {
    const size_t first = size_t(offsets[s]), last = size_t(offsets[s + 1]);
    std::vector<float>& vector = out[s]->vector;
    if (options_.embed == "first") {
      vector.assign(all.begin() + ptrdiff_t(first * width),
                    all.begin() + ptrdiff_t((first + 1) * width));
      continue;
    }
    for (size_t i = 0; i < width; ++i) {
      double sum = 0;
      for (size_t row = first + 1; row < last; ++row) sum += double(all[row * width + i]);
      vector.push_back(float(sum / double(last - first - 1)));
    }
  }
}

std::vector<EncodedLine::Filled> LineEncoder::best_tokens(Matrix logits) {
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
  const size_t count = std::min(order.size(), size_t(nbest_));
  std::partial_sort(order.begin(), order.begin() + ptrdiff_t(count), order.end(),
                    [&](int a, int b) {
                      const float x = values[size_t(a)], y = values[size_t(b)];
                      return x != y ? x > y : a < b;
                    });
  std::vector<EncodedLine::Filled> best;
  for (size_t i = 0; i < count; ++i)
    best.push_back({order[i], std::exp(double(values[size_t(order[i])]))});
  return best;
}

std::vector<EncodedLine> LineEncoder::run(const std::vector<std::vector<int>>& lines) {
  std::vector<EncodedLine> all(lines.size());
  std::vector<EncodedLine*> out;
  std::vector<std::vector<int>> sentences;
  std::vector<int32_t> offsets{0};
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    out.push_back(&all[i]);
    sentences.push_back(lines[i]);
    sentences.back().insert(sentences.back().begin(), Vocabulary::bos);
    offsets.push_back(offsets.back() + int32_t(sentences.back().size()));
  }
  if (out.empty()) return all;
  reserve(offsets.back(), sentences.size());
  const std::vector<std::span<const int>> spans(sentences.begin(), sentences.end());
  const PackedSide side = side_.upload(spans);
  Context context(backend_, *arena_, models_.dtype());
  Tensor hidden = transformer_.hidden(context, {&side, 1});
  if (!options_.embed.empty()) {
    read_vectors(hidden.value(), offsets, out);
    models_.check_unchanged();
    return all;
  }
  const Tensor logits = transformer_.logits(context, std::move(hidden));
  for (size_t s = 0; s < out.size(); ++s)
    for (size_t i = 0; i < sentences[s].size(); ++i)
      if (sentences[s][i] == mask_token)
        out[s]->masks.push_back(best_tokens(logits.value().slice(offsets[s] + int64_t(i), 1)));
  models_.check_unchanged();
  return all;
}

// The vector, or the line with its masks filled, then token and probability of each choice; tabs.
std::string LineEncoder::format(const std::vector<int>& ids, const EncodedLine& line) const {
  std::string out;
  for (const float x : line.vector) out += (out.empty() ? "" : "\t") + six_digits(double(x));
  if (!options_.embed.empty()) return out + "\n";
  const Vocabulary& vocabulary = models_.target();
  std::vector<int> filled;
  size_t mask = 0;
  for (const int id : ids)
    filled.push_back(id == mask_token ? line.masks[mask++].front().token : id);
  out = vocabulary.decode(filled);
  if (!line.masks.empty()) std::replace(out.begin(), out.end(), '\t', ' ');
  for (const auto& choices : line.masks)
    for (const EncodedLine::Filled& choice : choices)
      out += "\t" + vocabulary.token(choice.token) + "\t" + six_digits(choice.probability);
  return out + "\n";
}

void encode_lines(TextReader& in, LineEncoder& encoder, const std::string& vectors, Writer& out,
                  const Log& log) {
  CutWarnings cuts(log);
  UnknownText unknown(log, encoder.vocabulary());
  std::optional<RowSpool> rows;
  if (!vectors.empty()) rows.emplace(vectors);
  bool more = true;
  std::string text;
  std::vector<std::vector<int>> lines;
  while (more) {
    lines.clear();
    int64_t tokens = 0;
    do {
      more = in.next(text);
      if (!more) break;
      lines.push_back(is_blank(text) ? std::vector<int>() : encoder.parse(text));
      std::vector<int>& ids = lines.back();
      unknown.add(in, unknown_masked(text, ids, encoder.vocabulary()));
      const auto whole = int64_t(ids.size());
      if (whole > encoder.longest()) {
        ids.resize(size_t(encoder.longest()));
        cuts.add(in, whole, encoder.longest(), "--max-length");
      }
      tokens += int64_t(ids.size()) + 1;
    } while (tokens < encoder.batch_tokens() && lines.size() < max_batch_lines &&
             in.ready(wait_ms));
    const std::vector<EncodedLine> found = encoder.run(lines);
    for (size_t i = 0; i < lines.size(); ++i) {
      if (!rows) {
        out.write(encoder.format(lines[i], found[i]));
        continue;
      }
      std::vector<float> vector = found[i].vector;
      vector.resize(size_t(encoder.width()));  // zeros for a blank line
      rows->add({reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float)});
    }
    out.flush();
  }
  // A row for each line.
  if (rows) rows->close("vectors", "F32", {encoder.width()}, {{"format", "tx-vectors"}});
  cuts.at_end();
  unknown.at_end();
}

}  // namespace tx
