#include "lib/validation/translation_metrics.h"

#include <algorithm>
#include <atomic>

#include "lib/base/utf8.h"
#include "lib/eval/metrics.h"
#include "lib/search/lines.h"

namespace tx {

namespace {

constexpr int64_t gpu_batch = 4096;  // pieces; some hundred sentences, in a few hundred MiB

bool on_gpu(const Parameters& parameters) {
  return on(parameters.backend(), [](auto& k) { return k.has_own_memory(); });
}

// Of the weights that the CPU packs, about; a GPU reads them as they lie.
size_t packed_bytes(const Parameters& parameters) {
  if (on_gpu(parameters)) return 0;
  int64_t elements = 0;
  for (const ParameterEntry& e : parameters.table())
    if (!e.vector && !e.lookup) elements += e.padded_rows * e.cols;
  return size_t(elements) * size_of(parameters.dtype());
}

TranslatorOptions options_of(const Parameters& parameters, int threads) {
  TranslatorOptions options;
  options.search.beam = 1;
  options.batch_tokens = on_gpu(parameters) ? gpu_batch : usual_cpu_batch;
  options.threads = on_gpu(parameters) ? 1 : threads;
  options.device = on_gpu(parameters) ? "cuda" : "cpu";
  return options;
}

// The parameters of a training as a model to search with. They are packed first: the Transformer
// remembers where.
std::unique_ptr<ModelSet> model_of(Parameters& parameters, const TranslationTask& task,
                                   const TranslatorOptions& options) {
  parameters.prepare_inference();
  auto backend = std::make_unique<Backend>(make_backend(options.device, 1));
  std::vector<LoadedModel> models(1);
  LoadedModel& m = models.front();
  m.name = "the model in training";
  m.parameters = std::shared_ptr<Parameters>(&parameters, [](Parameters*) {});  // not ours
  m.transformer = std::make_unique<Transformer>(*backend, parameters,
                                                options.search.longest(options.max_source));
  m.vocabularies = task.vocabularies;
  on(*backend, [](auto& k) { k.wait(); });  // workers read it from streams of their own
  return std::make_unique<ModelSet>(std::move(backend), std::move(models));
}

Metrics metrics_of(const TranslationTask& task) {
  Metrics metrics;
  for (const std::string& name : task.metrics) {
    MetricOptions options;
    options.names = name;
    metrics.push_back(std::move(options.make().front()));
  }
  return metrics;
}

class TranslationMetrics : public TranslationScorer {
 public:
  TranslationMetrics(Parameters& parameters, TranslationTask task)
      : parameters_(parameters),
        task_(std::move(task)),
        metrics_(metrics_of(task_)),
        translator_(options_of(parameters, task_.threads),
                    model_of(parameters, task_, options_of(parameters, task_.threads))) {
    sources_.resize(task_.sources.size());
    for (size_t i = 0; i < sources_.size(); ++i) {
      parse_line(task_.sources[i], {}, translator_, sources_[i].ids);
      longest_ = std::max(longest_, int64_t(sources_[i].ids.size()));
    }
    batches_ = translator_.batches(sources_);
    const size_t most = size_t(translator_.options().threads);
    for (size_t i = 0; i < std::min(most, batches_.size()); ++i)
      workers_.push_back(translator_.worker());
  }

  size_t bytes() override {
    size_t sum = packed_bytes(parameters_);
    for (const auto& worker : workers_) sum += worker->bytes(at_a_time(), longest_);
    return sum;
  }
  void reserve() override {
    for (const auto& worker : workers_) worker->reserve(at_a_time(), longest_);
  }
  std::optional<std::vector<double>> score(const std::function<bool()>& stop) override;

 private:
  int64_t at_a_time() const { return translator_.options().batch_tokens; }
  bool translate(std::vector<std::string>& out, const std::function<bool()>& stop);

  Parameters& parameters_;
  TranslationTask task_;
  Metrics metrics_;
  Translator translator_;
  std::vector<Source> sources_;
  int64_t longest_ = 1;  // pieces of a source
  std::vector<std::vector<size_t>> batches_;
  std::vector<std::unique_ptr<TranslationWorker>> workers_;
};

// Blank lines keep the empty translation. False when it was stopped.
bool TranslationMetrics::translate(std::vector<std::string>& out,
                                   const std::function<bool()>& stop) {
  out.assign(sources_.size(), "");
  const Vocabulary& target = translator_.models().target();
  const int count = int(workers_.size());
  std::atomic<size_t> next{0};
  std::atomic<bool> stopped{false};
  parallel_for(count, count, [&](int64_t w) {
    for (size_t job; (job = next++) < batches_.size() && !stopped;) {
      std::vector<const Source*> batch;
      for (size_t i : batches_[job]) batch.push_back(&sources_[i]);
      const std::vector<Translation> found =
          workers_[size_t(w)]->translate(batch, translator_.threads_each(batches_.size()));
      for (size_t i = 0; i < found.size(); ++i)
        out[batches_[job][i]] = target.decode(found[i].front().ids);
      if (stop()) stopped = true;
    }
  });
  return !stopped;
}

std::optional<std::vector<double>> TranslationMetrics::score(const std::function<bool()>& stop) {
  parameters_.prepare_inference();
  on(parameters_.backend(), [](auto& k) { k.wait(); });
  std::vector<std::string> translations;
  if (!translate(translations, stop)) return std::nullopt;
  std::vector<double> scores;
  for (const auto& metric : metrics_) {
    Statistics sums(metric->size());
    for (size_t i = 0; i < translations.size(); ++i) {
      repair_utf8(translations[i]);  // small models give byte pieces that are not characters
      metric->add(translations[i], {&task_.references[i], 1}, sums);
    }
    scores.push_back(metric->value(sums));
  }
  return scores;
}

}  // namespace

std::unique_ptr<TranslationScorer> make_translation_scorer(Parameters& parameters,
                                                           TranslationTask task) {
  return std::make_unique<TranslationMetrics>(parameters, std::move(task));
}

}  // namespace tx
