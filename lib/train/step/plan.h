// The memory and the arithmetic of a run, from shapes alone.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "lib/base/resources.h"
#include "lib/data/cache.h"
#include "lib/data/packing.h"
#include "lib/train/step/step.h"

namespace tx {

struct MemoryPlan {
  size_t parameters = 0, gradients = 0, moments = 0, copy = 0;  // bytes
  size_t sums = 0;         // partial sums of gradients: lib/train/step/tree_sum.h
  size_t saving = 0;       // what a GPU's saves are made from: lib/train/run/saver.h
  size_t activations = 0;  // the arena: values, their gradients, statistics
  size_t other = 0;        // the same with --recompute the other way; 0: not known; not in total()
  size_t scratch = 0;      // of the backend's products
  size_t batch = 0;        // ids, offsets and row keys; positions
  size_t program = 0;      // libraries, vocabularies and settings
  size_t translating = 0;  // what --valid-metric bleu and chrf search with
  // Anonymous memory: the text as ids is a mapped file, and a validation uses the activations'
  // room.
  size_t total() const {
    return parameters + gradients + moments + copy + sums + saving + activations + scratch + batch +
           program + translating;
  }
};

// What a run takes beside its model.
struct MemoryBeside {
  size_t program = 0;      // in use before the model's memory was asked for
  size_t translating = 0;  // TranslationScorer::bytes()
};

// The run that is planned.
struct PlannedRun {
  Backend& backend;
  Parameters& parameters;
  const Transformer& transformer;
  const TrainOptions& options;
  MemoryBeside beside;
  int ranks = 1;  // that share the batches of a step; the plan is that of one
};
MemoryPlan plan_memory(const PlannedRun& run, const std::vector<int>& capacities);
// What a batch of these capacities takes of the arena.
size_t plan_activations(const PlannedRun& run, const std::vector<int>& capacities);

// Error that says what to do where the GPU has not enough room for what of the plan is still to be
// taken: activations, batches and the copy of saves. Does nothing on the CPU.
void check_device_memory(Backend& backend, const MemoryPlan& memory);

// Product FLOPs of a training step (forward and backward) on so many tokens of each side; the
// formula of tx-paper(7), Table 2: 6 per weight and token, attention apart.
double step_flops(const ModelConfig& config, const std::vector<double>& tokens);

// The batch that asks for most: sentences `growth` times as long as the longest of the text, as
// many as fit on either side, and a loss for every row.
Batch worst_batch(const PairLengths& lengths, const std::vector<int>& capacities, int growth = 1);

// "448 source + 500 target": a number of each side, with `between` between them.
std::string by_side(const ModelConfig& config, const std::vector<int>& numbers,
                    const std::string& between);

// What --describe prints: every block with shape and parameters, memory, FLOPs of a step.
std::string describe_run(const ModelConfig& config, const MemoryPlan& memory,
                         const std::vector<int>& capacities, const TrainOptions& options);
std::string describe_memory(const MemoryPlan& memory, bool recompute);

// What batches of a text look like.
struct BatchShape {
  int longest;                                      // tokens of a sentence, on any side
  std::function<std::vector<int>(int)> capacities;  // of each side, by target tokens
};
BatchShape shape_of(const PairLengths& lengths);  // whose cache must outlive it

// What --batch-tokens auto takes at most, however much memory there is: the paper's batch.
constexpr int max_auto_tokens = 25024;

// The batch size to use: that of --batch-tokens, UsageError where its plan does not fit --memory;
// or the largest multiple of 64 up to most_auto_tokens whose plan fits --memory or what may be
// used, UsageError where not even the longest pair does.
int resolve_batch_tokens(const PlannedRun& run, const BatchShape& shape);

}  // namespace tx
