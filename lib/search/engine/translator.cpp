#include "lib/search/engine/translator.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/search/engine/continuation.h"
#include "lib/search/rules/rule.h"
#include "lib/subword/mapped.h"

namespace tx {

void TranslatorOptions::describe_models(Options& options) {
  options
      .add(
          "-m,--model", models, "FILE", "model file or run directory; several form an ensemble",
          "A run directory stands for its best model, or its last if there is no best. If there is "
          "no such file, FILE can be the name of an installed model, such as demo; see tx(7). An "
          "ensemble averages the log-probabilities of its models, which must have the same "
          "vocabularies.")
      .must()
      .input();
}

void TranslatorOptions::describe_length(Options& options) {
  options.add("--max-length", max_source, "N", "cut sources to N tokens, with a warning")
      .range(1, 100000);
}

void TranslatorOptions::describe_heads(Options& options) {
  options.add("--mask-heads", masked_heads, "LIST",
              "switch off attention heads, such as encoder.2.5,cross.1.0",
              "KIND.LAYER.HEAD: encoder, decoder or cross, and numbers from 0 or * for all.");
}

void TranslatorOptions::describe_languages(Options& options) {
  options
      .add("--source-language", languages.source, "NAME",
           "language of the text (multilingual models), such as eng_Latn",
           "--describe lists the names and the default that the file states.")
      .needs(of_kinds({ModelKind::encoder_decoder}));
  options.add("--target-language", languages.target, "NAME", "language of the translations")
      .needs(of_kinds({ModelKind::encoder_decoder}));
}

void TranslatorOptions::describe_machine(Options& options) {
  options.group("Machine");
  options
      .add("--batch-tokens", batch_tokens, "N", "source tokens per batch",
           "In tx-train the option of this name counts target tokens.")
      .range(1, 1 << 20)
      .default_is(std::to_string(usual_cpu_batch) + ", on a GPU " +
                  std::to_string(usual_gpu_batch) + " or what fits");
  options.threads(threads, "Does not change the translations.");
  options.add("--device", device, "device; auto uses a GPU if there is one");
  options.add("--precision", precision, "precision of weights and products",
              "int8 is CPU-only: weights and activations are multiplied in 8 bits; keys and values "
              "are bf16. auto is int8 for a model that tx-avg --to int8 wrote, else bf16 if the "
              "device multiplies it faster than fp32, else fp32.");
}

void TranslatorOptions::describe_memory(Options& options) {
  options.add("--memory", memory, "SIZE", "limit the memory of the run, such as 2G or 800M",
              "Uses the largest batch that fits, unless --batch-tokens is given.");
}

Translation blank_translation(const Source& source) {
  TokenHypothesis h;
  if (source.target.size() <= 1) return {h};
  h.ids = source.target;
  h.complete = h.ids.back() == Vocabulary::eos;
  if (h.complete) h.ids.pop_back();
  h.log_p = h.score = -std::numeric_limits<double>::infinity();
  return {h};
}

TranslationWorker::TranslationWorker(const ModelSet& models, const TranslatorOptions& options,
                                     const Rules& rules, const Shortlist* shortlist)
    : backend_(make_backend(options.device, 1)),
      models_(models),
      at_a_time_(options.batch_tokens),
      transformers_(models.transformers()) {
  if (models.kind() == ModelKind::encoder) {
    encoder_ = std::make_unique<LineEncoder>(backend_, models, options.search.nbest);
    return;
  }
  search_ = std::make_unique<BatchSearch>(backend_, transformers_, models.dtype(), options.search,
                                          models.forbidden(), rules);
  if (shortlist) search_->list_by([=](const Source& source) { return shortlist->list(source); });
  const std::vector<std::string>& stops = options.search.stops;
  if (stops.empty()) return;
  search_->stop_at([&](const Source& source, std::span<const int> ids, size_t repeats) {
    return holds_stop(continuation_text(models.target(), source.ids, ids, repeats), stops);
  });
}

std::vector<Translation> TranslationWorker::translate(std::span<const Source* const> batch,
                                                      int threads, BatchSearch::Listener listener) {
  set_threads(backend_, threads);
  std::vector<Translation> found;
  if (encoder_) {
    found = encoder_->run(batch, at_a_time_);
  } else {
    search_->listen(std::move(listener));
    found = search_->run(batch, at_a_time_);
  }
  models_.check_unchanged();
  return found;
}

// A GPU has two workers: while one waits for the GPU, the other works on the host.
TranslatorOptions TranslatorOptions::resolved() const {
  TranslatorOptions o = *this;
  o.device = resolve_device(device);
  if (o.device == Device::cuda) o.threads = std::min(threads, 2);
  return o;
}

Translator::Translator(const TranslatorOptions& options, std::unique_ptr<ModelSet> models)
    : options_(options),
      models_(std::move(models)),
      workers_([this] {
        return std::make_unique<TranslationWorker>(*models_, options_, rules_, shortlist_.get());
      }),
      scorers_([this] {
        TranslatorOptions scoring = options_;
        scoring.search.forced_target = true;
        return std::make_unique<TranslationWorker>(*models_, scoring, rules_);
      }) {
  options_.device = models_->device();  // workers must reach the weights
  options_.search.continues = models_->kind() == ModelKind::decoder;
  options_.search.bos = models_->transformers().front()->config().source_bos;
  rules_ = make_rules(options_.search, models_->target());
  if (encodes()) {
    options_ = options_.resolved();
    if (options_.batch_tokens == 0) options_.batch_tokens = usual_cpu_batch;
    return;
  }
  if (!continues()) {
    options_.search.first_token = first_token(models_->target());
    const bool ends = models_->transformers().front()->config().source_eos;
    options_.search.closing = ends ? closing_tokens(models_->source()) : std::vector<int>();
  }
  options_.search.ends = ending_tokens(models_->target());
  options_ = options_.resolved();
  if (!options_.search.shortlist.empty() && !options_.search.forced_target) {
    if (options_.device == Device::cuda)
      throw UsageError("--shortlist is CPU-only: add --device cpu, or leave it out");
    shortlist_ = std::make_unique<Shortlist>(options_.search, models_->source(), models_->target());
  }
  options_.batch_tokens =
      plan_batch_tokens(*models_, options_, rules_, shortlist_.get(), max_source());
}

Translator::Translator(const TranslatorOptions& options)
    : Translator(options, ModelSet::load(
                              make_backend(options.device, options.threads), options.models,
                              options.precision, options.search.longest(options.max_source),
                              options.masked_heads, options.max_source + options.search.max_new + 1,
                              options.languages)) {}

int64_t Translator::max_source() const {
  const int64_t longest = models_->longest();
  const auto closing = int64_t(encodes() ? encoder_closing(models_->source()).size() : 0);
  if (!continues()) return std::min(options_.max_source, longest - 1 - closing);
  // The prompt leaves positions for max_new tokens, but never more than half of all.
  return std::min(options_.max_source,
                  std::max(longest / 2, longest - 1 - options_.search.max_new));
}

// A step of one sentence has about 11 thread barriers per layer, of 1 to 2 us each; with fewer
// parameters than this they cost as much as further threads save.
int Translator::threads_each(size_t batches) const {
  constexpr int64_t worth_sharing = 20'000'000;
  if (models_->parameters() < worth_sharing) return 1;
  return std::max(1, options_.threads / std::max(1, int(batches)));
}

std::vector<std::vector<size_t>> Translator::batches(std::span<const Source> sources) const {
  std::vector<size_t> order(sources.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](size_t i) { return sources[i].blank(); });
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return sources[a].ids.size() > sources[b].ids.size();
  });
  const auto cost = [&](size_t i) { return cost_of(sources[i]); };
  // A job has more sources than are translated at a time: the next replaces a finished one.
  const int64_t max = options_.batch_tokens * batches_in_turn;
  int64_t all = 0;
  for (size_t i : order) all += cost(i);
  // A small input is shared among all threads.
  const int64_t share = std::min(max, all / options_.threads);
  std::vector<std::vector<size_t>> out;
  int64_t used = max;
  for (size_t i : order) {
    if (used + cost(i) > max || used + cost(i) / 2 > share) {
      out.emplace_back();
      used = 0;
    }
    out.back().push_back(i);
    used += cost(i);
  }
  return out;
}

std::vector<Translation> Translator::translate(std::span<const Source> sources) const {
  const auto jobs = batches(sources);
  const int threads = threads_each(jobs.size());
  return translate(sources, jobs, {std::max(1, options_.threads / threads), threads});
}

std::vector<Translation> Translator::translate(std::span<const Source> sources,
                                               const std::vector<std::vector<size_t>>& batches,
                                               const TeamSize& team,
                                               const std::function<bool()>& stop) const {
  std::vector<Translation> out(sources.size(), {TokenHypothesis()});
  const int workers = int(std::min(batches.size(), size_t(team.workers)));
  std::atomic<size_t> next{0};
  parallel_for(workers, workers, [&](int64_t) {
    const auto own = worker();
    for (size_t job; (job = next++) < batches.size();) {
      std::vector<const Source*> batch;
      for (size_t i : batches[job]) batch.push_back(&sources[i]);
      std::vector<Translation> found = own->translate(batch, team.threads);
      for (size_t i = 0; i < found.size(); ++i) out[batches[job][i]] = std::move(found[i]);
      if (stop && stop()) return;
    }
  });
  return out;
}

}  // namespace tx
