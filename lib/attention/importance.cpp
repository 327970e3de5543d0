#include "lib/attention/importance.h"

#include <algorithm>
#include <cmath>

#include "lib/checkpoint/model_file.h"
#include "lib/model/head_mask.h"
#include "lib/model/transformer.h"
#include "lib/ops/ops.h"
#include "lib/subword/vocabulary.h"

namespace tx {

namespace {

constexpr int64_t rows_together = 1024;  // target rows per batch without gradients

// The model with gradients, and its loss on sentences.
class Meter {
 public:
  Meter(const DumpOptions& options, int64_t longest)
      : backend_(make_backend(options.translator.device, options.translator.threads)),
        reader_(options.model()),
        parameters_(Parameters::for_training(backend_, reader_.config(), DType::f32)),
        source_(backend_),
        target_(backend_),
        labels_(backend_) {
    reader_.load(parameters_);
    transformer_ = std::make_unique<Transformer>(backend_, parameters_, longest);
    record_ = backend_->allocate(sizeof(StepRecord));
  }
  ~Meter() { backend_->release(record_); }
  Meter(const Meter&) = delete;

  const ModelConfig& config() const { return reader_.config(); }

  // The loss summed over the items' target tokens; with `gradients` also those of the weights.
  double loss(std::span<const Item> items, bool gradients) {
    std::vector<std::vector<int>> sources, inputs;
    std::vector<int32_t> labels;
    for (const Item& item : items) {
      sources.push_back(item.source.ids);
      if (config().source_eos) sources.back().push_back(Vocabulary::eos);
      inputs.push_back({Vocabulary::bos});
      inputs.back().insert(inputs.back().end(), item.target.begin(), item.target.end() - 1);
      labels.insert(labels.end(), item.target.begin(), item.target.end());
    }
    const auto upload = [](DeviceSide& to, const std::vector<std::vector<int>>& sentences) {
      const std::vector<std::span<const int>> views(sentences.begin(), sentences.end());
      return to.upload(views);
    };
    const std::vector<PackedSide> sides{upload(source_, sources), upload(target_, inputs)};
    const int32_t* const wanted = labels_.set<int32_t>(labels);
    StepRecord record;
    backend_->upload(record_, &record, sizeof record);
    parameters_.begin_step();
    const auto pass = [&](Context& context) {
      context.recording = gradients;
      cross_entropy(context, transformer_->forward(context, sides), wanted,
                    config().target().vocabulary, 0, static_cast<StepRecord*>(record_));
      if (gradients) context.backward();
    };
    Arena counting;
    Context dry(backend_, counting, DType::f32);
    pass(dry);
    if (counting.peak() > bytes_) {
      arena_.reset();
      bytes_ = counting.peak();
      arena_ = std::make_unique<Arena>(backend_, bytes_);
    }
    parameters_.begin_step();
    Context context(backend_, *arena_, DType::f32);
    pass(context);
    backend_->download(&record, record_, sizeof record);
    if (!std::isfinite(record.nll))
      throw DataError(reader_.path() + " computes log-probabilities that are not finite");
    return record.nll;
  }

  // The output projection of this head's attention.
  const ParameterEntry& projection(const HeadImportance& h) const {
    const std::string name = HeadMask::projection(name_of(h.kind), h.layer, config());
    for (const ParameterEntry& e : parameters_.table())
      if (e.name == name) return e;
    throw Bug("the model has this projection", __FILE__, __LINE__);
  }
  std::vector<float> download(Matrix block, const ParameterEntry& e) {
    std::vector<float> values(size_t(e.rows * e.cols));
    const Matrix from = parameters_.entry_of(block, e);
    backend_->download(values.data(), from.data, values.size() * 4);
    return values;
  }
  std::vector<float> weights(const ParameterEntry& e) {
    return download(parameters_.fp32_weights(), e);
  }
  std::vector<float> gradients(const ParameterEntry& e) {
    return download(parameters_.gradients(), e);
  }
  void set_weights(const ParameterEntry& e, const std::vector<float>& values) {
    const Matrix to = parameters_.fp32_weights(e);
    backend_->upload(to.data, values.data(), values.size() * 4);
  }

 private:
  Backend backend_;
  ModelReader reader_;
  Parameters parameters_;
  std::unique_ptr<Transformer> transformer_;
  DeviceSide source_, target_;
  DeviceInts labels_;
  std::unique_ptr<Arena> arena_;
  size_t bytes_ = 0;
  void* record_ = nullptr;
};

double loss_of_all(Meter& meter, const std::vector<Item>& items) {
  double sum = 0;
  for (size_t first = 0; first < items.size();) {
    size_t end = first;
    for (int64_t rows = 0; end < items.size(); ++end) {
      rows += int64_t(std::max(items[end].target.size(), items[end].source.ids.size() + 1));
      if (end > first && rows > rows_together) break;
    }
    sum += meter.loss({&items[first], end - first}, false);
    first = end;
  }
  return sum;
}

// d loss / d gate of a head is the sum of weight times gradient over its output columns.
void add_gradients(Meter& meter, Importance& to) {
  const int width = meter.config().d_v;
  std::string name;
  std::vector<float> w, g;
  int64_t rows = 0, cols = 0;
  for (HeadImportance& h : to.heads) {
    if (const ParameterEntry& e = meter.projection(h); e.name != name) {
      name = e.name;
      w = meter.weights(e), g = meter.gradients(e), rows = e.rows, cols = e.cols;
    }
    double sum = 0;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = i * cols + h.head * width; j < i * cols + (h.head + 1) * width; ++j)
        sum += double(w[size_t(j)]) * double(g[size_t(j)]);
    h.gradient += std::abs(sum);
  }
}

double loss_without(Meter& meter, const HeadImportance& h, const std::vector<Item>& items) {
  const ParameterEntry& e = meter.projection(h);
  const std::vector<float> whole = meter.weights(e);
  std::vector<float> masked = whole;
  const int width = meter.config().d_v;
  for (int64_t i = 0; i < e.rows; ++i)
    std::fill_n(masked.begin() + i * e.cols + h.head * width, width, 0.0f);
  meter.set_weights(e, masked);
  const double loss = loss_of_all(meter, items);
  meter.set_weights(e, whole);
  return loss;
}

}  // namespace

Importance measure_importance(const DumpOptions& options, const Selection& selection,
                              const std::vector<Item>& all, const Log& log) {
  Importance out;
  std::vector<Item> items;
  int64_t longest = 1;
  for (const Item& item : all) {
    if (item.source.ids.empty() || item.target.empty()) continue;
    items.push_back(item);
    out.tokens += int64_t(item.target.size());
    longest = std::max({longest, int64_t(item.target.size()), int64_t(item.source.ids.size()) + 1});
  }
  out.lines = int64_t(items.size());
  for (const Selection::Kind& kind : selection.kinds)
    for (const int layer : kind.layers)
      for (const int head : selection.heads) out.heads.push_back({kind.kind, layer, head, 0, 0});
  if (items.empty()) return out;
  Meter meter(options, longest);
  for (const Item& item : items) {
    meter.loss({&item, 1}, true);
    add_gradients(meter, out);
  }
  const double tokens = double(out.tokens);
  out.loss = loss_of_all(meter, items) / tokens;
  size_t done = 0;
  for (HeadImportance& h : out.heads) {
    h.gradient /= tokens;
    h.loss = loss_without(meter, h, items) / tokens;
    if (++done % 16 == 0 && done < out.heads.size())
      log.info(std::to_string(done) + " of " + std::to_string(out.heads.size()) + " heads");
  }
  return out;
}

FigureTable importance_table(const Importance& importance) {
  FigureTable out{
      "heads",
      {{"lines", importance.lines}, {"pieces", importance.tokens}, {"loss", importance.loss}},
      {"kind", "layer", "head", "loss", "change", "gradient"}};
  for (const HeadImportance& h : importance.heads)
    out.rows.push_back(
        {name_of(h.kind), h.layer, h.head, h.loss, h.loss - importance.loss, h.gradient});
  return out;
}

}  // namespace tx
