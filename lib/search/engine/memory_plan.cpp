// plan_batch_tokens(): weights, and each worker's cache, keys, activations and scores.
#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/resources.h"
#include "lib/search/engine/translator.h"

namespace tx {
namespace {

// The lines in progress: short ones take 8 MiB; three windows of long ones have twice the tokens.
constexpr size_t text_bytes = size_t(16) << 20;
// Planned batches are multiples of `unit`, on a GPU up to `max_planned`. On a CPU batches above
// usual_cpu_batch are slower: 1,000 lines of Multi30k on two AVX2 cores took 3.2 s and 276 MB with
// 1,024 tokens, 4.5 s and 946 MB with 4,096.
constexpr int64_t unit = 64, max_planned = 32768;

// Maximum size of a worker's copy of the output projection for the shortlists of its lines.
size_t picked_bytes(const Transformer& model, DType dtype) {
  const ModelConfig& c = model.config();
  return size_t(padded_vocabulary(c.target().vocabulary) * c.d_model) * size_of(dtype);
}

class Plan {
 public:
  Plan(const ModelSet& models, const TranslatorOptions& options, const Rules& rules,
       const Shortlist* shortlist, int64_t longest)
      : options_(options), longest_(longest), worker_(models, options, rules, shortlist) {
    const bool gpu = options.device == Device::cuda, limited = !options.memory.empty();
    if (limited) limit_ = size_t(parse_size(options.memory, "--memory"));
    if (!limited) limit_ = worker_.free_bytes() / 10 * 9;
    if (!gpu) held_ = anonymous_bytes() + text_bytes;  // includes the weights
    if (gpu && limited) held_ = models.bytes();        // free_bytes() already excludes them
    for (const Transformer* model : models.transformers())
      if (shortlist) held_ += size_t(options.threads) * picked_bytes(*model, models.dtype());
  }
  size_t total(int64_t tokens) {
    return held_ + size_t(options_.threads) * worker_.bytes(tokens, longest_);
  }
  bool fits(int64_t tokens, size_t spare = 0) { return total(tokens) + spare <= limit_; }
  // The largest batch up to `max` that leaves `spare` bytes; 0: none.
  int64_t largest(int64_t max, size_t spare) {
    if (fits(max, spare)) return max;
    int64_t low = 0, high = max / unit;  // `low` fits (0 by definition), nothing above `high` does
    while (low < high) {
      const int64_t middle = (low + high + 1) / 2;
      if (fits(middle * unit, spare))
        low = middle;
      else
        high = middle - 1;
    }
    return low * unit;
  }

 private:
  const TranslatorOptions& options_;
  int64_t longest_;
  TranslationWorker worker_;
  size_t limit_ = 0, held_ = 0;
};

}  // namespace

int64_t plan_batch_tokens(const ModelSet& models, const TranslatorOptions& options,
                          const Rules& rules, const Shortlist* shortlist, int64_t longest) {
  const bool gpu = options.device == Device::cuda, limited = !options.memory.empty();
  const int64_t given = options.batch_tokens, usual = gpu ? usual_gpu_batch : usual_cpu_batch;
  if (!limited && (given || !gpu)) return given ? given : usual;
  Plan plan(models, options, rules, shortlist, longest);
  if (given && plan.fits(given)) return given;
  const int64_t fits = given ? plan.largest(given, reserve_bytes)  // for a message
                             : plan.largest(gpu && limited ? max_planned : usual, 0);
  const std::string memory = limited ? "--memory " + options.memory : "the GPU's free memory";
  if (fits == 0)
    throw UsageError(memory + " cannot hold a line of --max-length " + std::to_string(longest) +
                     " on " + counted(options.threads, "thread") +
                     (limited ? ": --memory " : ": ") + size_text(plan.total(unit)) +
                     " would fit it");
  if (given)
    throw UsageError(memory + " cannot hold --batch-tokens " + std::to_string(given) +
                     ", which needs " + size_text(plan.total(given)) +
                     ": give that, or --batch-tokens " + std::to_string(fits) + ", which fits");
  return fits;
}

}  // namespace tx
