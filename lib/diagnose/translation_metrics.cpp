#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include "lib/base/utf8.h"
#include "lib/diagnose/training.h"
#include "lib/eval/metrics.h"
#include "lib/search/lines/lines.h"

namespace tx {

namespace {

constexpr int64_t gpu_batch = 4096;  // tokens: some hundred sentences, a few hundred MiB

bool on_gpu(const Parameters& parameters) { return parameters.backend()->has_own_memory(); }

// Estimated bytes of the weights packed on the CPU; a GPU needs no packing.
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
  options.device = on_gpu(parameters) ? Device::cuda : Device::cpu;
  return options;
}

// A training's parameters as a ModelSet. They are packed first: the Transformer points to them.
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
  (*backend)->wait();  // workers read it from their own streams
  return std::make_unique<ModelSet>(std::move(backend), std::move(models));
}

constexpr uint64_t stopped_there = UINT64_MAX;  // instead of a size

// The lines as bytes, each preceded by its size.
std::string packed(const std::vector<std::string>& lines) {
  std::string bytes;
  for (const std::string& line : lines) {
    const auto size = uint32_t(line.size());
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    bytes += line;
  }
  return bytes;
}

// Reads from `at` the lines rank, rank + ranks, rank + 2 ranks, ...; returns the end.
const char* unpack(const char* at, size_t rank, size_t ranks, std::vector<std::string>& lines) {
  for (size_t i = rank; i < lines.size(); i += ranks) {
    uint32_t size = 0;
    std::memcpy(&size, at, sizeof size);
    lines[i].assign(at + sizeof size, size);
    at += sizeof size + size;
  }
  return at;
}

// Collective: gathers all `count` lines on rank 0. Rank r of R has lines r, r + R, r + 2 R, ...
// Returns false on every rank if any rank is not `complete`.
bool gather_lines(Communicator& ranks, bool complete, size_t count,
                  std::vector<std::string>& lines) {
  const std::string mine = packed(lines);
  const uint64_t size = complete ? mine.size() : stopped_there;
  std::vector<uint64_t> sizes(size_t(ranks.size()));
  ranks.gather_all(&size, sizeof size, sizes.data());
  if (std::find(sizes.begin(), sizes.end(), stopped_there) != sizes.end()) return false;
  const bool first = ranks.rank() == 0;
  std::vector<size_t> out(sizes.size(), 0), in(sizes.size(), 0);
  out[0] = mine.size();
  if (first) in.assign(sizes.begin(), sizes.end());
  std::string all(std::accumulate(in.begin(), in.end(), size_t(0)), '\0');
  ranks.exchange(mine.data(), out, all.data(), in);
  if (!first) return true;
  lines.resize(count);
  const char* at = all.data();
  for (size_t r = 0; r < sizes.size(); ++r) at = unpack(at, r, sizes.size(), lines);
  return true;
}

class TranslationMetrics : public TranslationScorer {
 public:
  TranslationMetrics(Parameters& parameters, TranslationTask task)
      : parameters_(parameters),
        task_(std::move(task)),
        translator_(options_of(parameters, task_.threads),
                    model_of(parameters, task_, options_of(parameters, task_.threads))) {
    for (const std::string& name : task_.metrics) metrics_.push_back(make_metric(name));
    for (size_t i = size_t(task_.rank); i < task_.sources.size(); i += size_t(task_.ranks)) {
      parse_line(task_.sources[i], {}, translator_, sources_.emplace_back().ids);
      longest_ = std::max(longest_, int64_t(sources_.back().ids.size()));
    }
    batches_ = translator_.batches(sources_);
    team_ = {int(std::min(size_t(translator_.options().threads), batches_.size())),
             translator_.threads_each(batches_.size())};
  }

  size_t bytes() override {
    if (batches_.empty()) return packed_bytes(parameters_);
    return packed_bytes(parameters_) +
           size_t(team_.workers) * translator_.worker()->bytes(at_a_time(), longest_);
  }
  void reserve() override {
    std::vector<Pool<TranslationWorker>::Lent> all;
    while (int(all.size()) < team_.workers) {
      all.push_back(translator_.worker());
      all.back()->reserve(at_a_time(), longest_);
    }
  }
  std::optional<std::vector<double>> score(const std::function<bool()>& stop,
                                           Communicator* ranks) override;

 private:
  int64_t at_a_time() const { return translator_.options().batch_tokens; }
  bool translate(std::vector<std::string>& out, const std::function<bool()>& stop);

  Parameters& parameters_;
  TranslationTask task_;
  Metrics metrics_;
  Translator translator_;
  std::vector<Source> sources_;  // every task_.ranks-th source, from task_.rank on
  int64_t longest_ = 1;          // of a source, in tokens
  std::vector<std::vector<size_t>> batches_;
  TeamSize team_;
};

// Blank lines have an empty translation. False if stopped.
bool TranslationMetrics::translate(std::vector<std::string>& out,
                                   const std::function<bool()>& stop) {
  std::atomic<bool> stopped{false};
  const auto stops = [&] { return stopped = stopped || stop(); };
  for (const Translation& found : translator_.translate(sources_, batches_, team_, stops))
    out.push_back(translator_.models().target().decode(found.front().ids));
  return !stopped;
}

std::optional<std::vector<double>> TranslationMetrics::score(const std::function<bool()>& stop,
                                                             Communicator* ranks) {
  parameters_.prepare_inference();
  parameters_.backend()->wait();
  std::vector<std::string> translations;
  const bool complete = translate(translations, stop);
  if (ranks ? !gather_lines(*ranks, complete, task_.sources.size(), translations) : !complete)
    return std::nullopt;
  if (task_.rank > 0) return std::vector<double>();
  std::vector<double> scores;
  for (const auto& metric : metrics_) {
    Statistics sums(metric->size());
    for (size_t i = 0; i < translations.size(); ++i) {
      repair_utf8(translations[i]);  // small models output invalid sequences of byte tokens
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
