// Translation of sentences by several workers over shared models. Translations are batch-invariant
// and do not depend on the number of workers or threads.
//
//   Translator translator(options);
//   std::vector<Translation> out = translator.translate(sources);
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "lib/base/pool.h"
#include "lib/base/resources.h"
#include "lib/base/workers.h"
#include "lib/search/engine/batch_search.h"
#include "lib/search/engine/line_encoder.h"
#include "lib/search/engine/model_set.h"
#include "lib/search/engine/shortlist.h"

namespace tx {

// Default batch sizes in source tokens. On a CPU larger batches are slower.
constexpr int64_t usual_cpu_batch = 1024, usual_gpu_batch = 16384;

struct TranslatorOptions {
  std::vector<std::string> models;
  SearchOptions search;
  int64_t max_source = 1024;  // tokens; longer sources are cut
  int64_t batch_tokens = 0;   // source tokens per batch; 0: chosen by plan_batch_tokens()
  std::string memory;         // limit, such as 2G; "": the free memory of a GPU, none on a CPU
  int threads = available_cpus();
  Named<Device> device = Device::automatic;
  Named<Precision> precision = Precision::automatic;
  std::string masked_heads;  // a list for HeadMask
  LanguageChoice languages;  // for multilingual models

  void describe_models(Options& options);     // -m
  void describe_heads(Options& options);      // --mask-heads
  void describe_languages(Options& options);  // --source-language, --target-language
  void describe_length(Options& options);     // --max-length
  void describe_machine(Options& options);    // --batch-tokens, --threads, --device, --precision
  void describe_memory(Options& options);     // --memory
  TranslatorOptions resolved() const;         // with device and threads settled
};

using Translation = std::vector<TokenHypothesis>;  // best first, never empty

// An empty output with log P 0, or minus infinity for a forced target that is not empty.
Translation blank_translation(const Source& source);

// The number of batches translated concurrently, and of threads for each.
struct TeamSize {
  int workers = 1, threads = 1;
};

// The backend of one thread, and its search, or what encodes if the model is an encoder.
class TranslationWorker {
 public:
  // shortlist: null if all tokens are allowed.
  TranslationWorker(const ModelSet& models, const TranslatorOptions& options, const Rules& rules,
                    const Shortlist* shortlist = nullptr);
  // Translates a batch of any size with `threads` threads.
  std::vector<Translation> translate(std::span<const Source* const> batch, int threads,
                                     BatchSearch::Listener listener = {});
  // The peak memory for batches of `batch_tokens` tokens, of sources of up to `longest` tokens.
  size_t bytes(int64_t batch_tokens, int64_t longest) {
    return search_->bytes(batch_tokens, longest);
  }
  void reserve(int64_t batch_tokens, int64_t longest) { search_->reserve(batch_tokens, longest); }
  size_t free_bytes() { return backend_->free_bytes(); }  // of the GPU; 0 on the CPU

 private:
  Backend backend_;
  const ModelSet& models_;
  int64_t at_a_time_;
  std::vector<const Transformer*> transformers_;
  std::unique_ptr<LineEncoder> encoder_;
  std::unique_ptr<BatchSearch> search_;
};

class Translator {
 public:
  explicit Translator(const TranslatorOptions& options);
  // UsageError if options.memory is too small; the message names a size that is large enough.
  Translator(const TranslatorOptions& options, std::unique_ptr<ModelSet> models);

  const TranslatorOptions& options() const { return options_; }
  const ModelSet& models() const { return *models_; }
  const Rules& rules() const { return rules_; }
  const Shortlist* shortlist() const { return shortlist_.get(); }  // null: none
  // Whether the models are language models, which continue the source instead of translating it.
  bool continues() const { return options_.search.continues; }
  // Whether the model is an encoder, which has vectors or fills masks (Source::encoding).
  bool encodes() const { return models_->kind() == ModelKind::encoder; }
  // Maximum tokens of a source: options.max_source, or the limit of the models if that is smaller.
  // A longer prompt keeps its last tokens, any other source its first.
  int64_t max_source() const;
  // Which of the two limits applies, for messages about cut lines.
  const char* limit() const {
    return max_source() < options_.max_source ? "the maximum of the model" : "--max-length";
  }
  // Divides the indices of `sources` into jobs for workers, longest sources first. A job has up to
  // batches_in_turn batches, which its worker translates in one call. Blank sources are left out.
  static constexpr int64_t batches_in_turn = 4;
  std::vector<std::vector<size_t>> batches(std::span<const Source> sources) const;
  // A worker for this thread. Workers are made once, for all calls.
  Pool<TranslationWorker>::Lent worker() const { return workers_.lend(); }
  // The same, but it scores Source::target instead of searching.
  Pool<TranslationWorker>::Lent scorer() const { return scorers_.lend(); }
  std::string precision() const { return models_->precision(); }
  // Threads for each of `batches` batches.
  int threads_each(size_t batches) const;
  // Translates all sources. A source without tokens has the empty translation.
  std::vector<Translation> translate(std::span<const Source> sources) const;
  // The same with given batches. Sources in no batch have the empty translation. Each worker stops
  // when stop() returns true after a batch.
  std::vector<Translation> translate(std::span<const Source> sources,
                                     const std::vector<std::vector<size_t>>& batches,
                                     const TeamSize& team,
                                     const std::function<bool()>& stop = {}) const;

 private:
  TranslatorOptions options_;
  std::unique_ptr<ModelSet> models_;
  Rules rules_;
  std::unique_ptr<const Shortlist> shortlist_;
  mutable Pool<TranslationWorker> workers_, scorers_;
};

// The batch size in source tokens, for sources of up to `longest` tokens:
//   with options.batch_tokens: that size;
//   with options.memory: the largest that fits, on a CPU at most usual_cpu_batch;
//   otherwise: the usual size of the device, on a GPU at most what fits into its free memory.
// UsageError for a limit that is too small, naming one. `options` must be resolved().
int64_t plan_batch_tokens(const ModelSet& models, const TranslatorOptions& options,
                          const Rules& rules, const Shortlist* shortlist, int64_t longest);

}  // namespace tx
