// Translation of sentences by several workers over shared models. Translations are batch-invariant
// and do not depend on the number of workers or threads.
//
//   Translator translator(options);
//   std::vector<Translation> out = translator.translate(sources);
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/resources.h"
#include "lib/base/workers.h"
#include "lib/search/engine/batch_search.h"
#include "lib/search/engine/model_set.h"
#include "lib/search/engine/shortlist.h"

namespace tx {

// Source tokens that are translated together by default. On the CPU larger batches are slower.
constexpr int64_t usual_cpu_batch = 1024, usual_gpu_batch = 16384;

struct TranslatorOptions {
  std::vector<std::string> models;
  SearchOptions search;
  int64_t max_source = 1024;  // tokens; longer sources are cut
  int64_t batch_tokens = 0;   // source tokens at a time; 0: what suits the device and fits
  std::string memory;         // limit of the plan, such as 2G; "": what a GPU has free
  int threads = available_cpus();
  std::string device = "auto", precision = "auto";
  std::string masked_heads;  // a list for HeadMask
  LanguageChoice languages;  // of models of many

  void describe_models(Options& options);     // -m
  void describe_heads(Options& options);      // --mask-heads
  void describe_languages(Options& options);  // --source-language, --target-language
  void describe_length(Options& options);     // --max-length
  void describe_machine(Options& options);    // --batch-tokens, --threads, --device, --precision
  void describe_memory(Options& options);     // --memory
  TranslatorOptions resolved() const;         // with device and threads settled
};

using Translation = std::vector<TokenHypothesis>;  // best first, never empty

// Of a source that is blank: an empty output with log P 0. A forced target that is not empty has
// minus infinity: it is never output.
Translation blank_translation(const Source& source);

// How many batches are translated at a time, and on how many threads each.
struct TeamSize {
  int workers = 1, threads = 1;
};

// What one thread needs: a backend and a search of its own.
class TranslationWorker {
 public:
  // shortlist: null where all tokens are allowed.
  TranslationWorker(const ModelSet& models, const TranslatorOptions& options, const Rules& rules,
                    const Shortlist* shortlist = nullptr);
  void listen(BatchSearch::Listener listener) { search_.listen(std::move(listener)); }
  // The batch may be of any size; `threads` of this call.
  std::vector<Translation> translate(std::span<const Source* const> batch, int threads);
  // The most memory for translating `batch_tokens` tokens at a time, in sources of up to
  // `longest`.
  size_t bytes(int64_t batch_tokens, int64_t longest) {
    return search_.bytes(batch_tokens, longest);
  }
  void reserve(int64_t batch_tokens, int64_t longest) { search_.reserve(batch_tokens, longest); }
  size_t free_bytes();  // that the GPU has; 0 on the CPU

 private:
  Backend backend_;
  int64_t at_a_time_;
  std::vector<const Transformer*> transformers_;
  BatchSearch search_;
};

class Translator {
 public:
  explicit Translator(const TranslatorOptions& options);
  // UsageError where options.memory is too small; it names a size that is large enough.
  Translator(const TranslatorOptions& options, std::unique_ptr<ModelSet> models);

  const TranslatorOptions& options() const { return options_; }
  const ModelSet& models() const { return *models_; }
  const Rules& rules() const { return rules_; }
  const Shortlist* shortlist() const { return shortlist_.get(); }  // null: none
  // Whether the models continue a text, their source; else they translate it.
  bool continues() const { return options_.search.continues; }
  // Maximum tokens of a source: max_source, or fewer where the models take fewer. Of a
  // longer prompt the end counts, of another source the beginning.
  int64_t max_source() const;
  const char* limit() const;  // which of the two it is, for a message about a line that was cut
  // Indices of `sources` cut into what a worker takes at a time, the longest first: up to
  // batches_in_turn times what it translates together. Sources without tokens are left out.
  static constexpr int64_t batches_in_turn = 4;
  std::vector<std::vector<size_t>> batches(std::span<const Source> sources) const;
  std::unique_ptr<TranslationWorker> worker() const;
  std::string precision() const;  // of the weights: "int8", "bf16" or "fp32"
  // Threads for each of `batches` batches.
  int threads_each(size_t batches) const;
  // All at once. A source without tokens has the empty translation.
  std::vector<Translation> translate(std::span<const Source> sources) const;
  // The same in these batches. Sources in no batch have the empty translation.
  std::vector<Translation> translate(std::span<const Source> sources,
                                     const std::vector<std::vector<size_t>>& batches,
                                     const TeamSize& team) const;

 private:
  TranslatorOptions options_;
  std::unique_ptr<ModelSet> models_;
  Rules rules_;
  std::unique_ptr<const Shortlist> shortlist_;
};

// The batch size to use: options.batch_tokens where it is given; else the largest that fits
// options.memory, on a CPU no more than what suits it; else what suits the device, on a GPU no more
// than fits into its free memory. Sources have up to `longest` tokens. UsageError where the limit
// is too small; it names one that is large enough. `options` are resolved().
int64_t plan_batch_tokens(const ModelSet& models, const TranslatorOptions& options,
                          const Rules& rules, const Shortlist* shortlist, int64_t longest);

}  // namespace tx
