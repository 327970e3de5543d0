// plan_batch_tokens() of translator.h: the memory of weights, and for every worker that of the
// cache, keys, activations and scores of the largest batch.

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/resources.h"
#include "lib/search/engine/translator.h"

namespace tx {

namespace {

// The lines that are read, translated and written at a time, with their tokens and answers: short
// ones take 8 MiB, three windows of long ones have twice as many tokens.
constexpr size_t text_bytes = size_t(16) << 20;
// Batches are planned in multiples of the one, on a GPU up to the other. On a CPU more than the
// usual batch is slower: 1,000 lines of Multi30k on two AVX2 cores took 3.2 s with 1,024 tokens and
// 276 MB, 4.5 s with 4,096 and 946 MB.
constexpr int64_t unit = 64, max_planned = 32768;

// What a worker holds of the output projection for the lists of its lines, at most.
size_t picked_bytes(const Transformer& model, DType dtype) {
  const ModelConfig& c = model.config();
  return size_t(padded_vocabulary(c.target().vocabulary) * c.d_model) * size_of(dtype);
}

class Plan {
 public:
  Plan(const ModelSet& models, const TranslatorOptions& options, const Rules& rules,
       const Shortlist* shortlist, int64_t longest)
      : options_(options), longest_(longest), worker_(models, options, rules, shortlist) {
    const bool gpu = options.device == "cuda", limited = !options.memory.empty();
    if (limited) limit_ = size_t(parse_size(options.memory, "--memory"));
    if (!limited) limit_ = worker_.free_bytes() / 10 * 9;
    if (!gpu) held_ = anonymous_bytes() + text_bytes;  // the weights included
    if (gpu && limited) held_ = models.bytes();        // else free memory is without it
    for (const Transformer* model : models.transformers())
      if (shortlist) held_ += size_t(options.threads) * picked_bytes(*model, models.dtype());
  }
  size_t total(int64_t tokens) {
    return held_ + size_t(options_.threads) * worker_.bytes(tokens, longest_);
  }
  bool fits(int64_t tokens, size_t spare = 0) { return total(tokens) + spare <= limit_; }
  // The largest up to `most` that leaves `spare`; 0: none.
  int64_t largest(int64_t max, size_t spare) {
    if (fits(max, spare)) return max;
    int64_t low = 0, high = max / unit;  // fits (0 does by definition), and does not or was tried
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
  const bool gpu = options.device == "cuda", limited = !options.memory.empty();
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
