// The memory and the arithmetic of a run, computed from shapes.
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
  size_t parameters = 0, gradients = 0, optimizer_state = 0, bf16_weights = 0;  // bytes
  size_t update = 0;       // Muon's directions and scratch
  size_t sums = 0;         // partial sums of gradients: lib/train/step/tree_sum.h
  size_t saving = 0;       // the device copy that is saved: lib/checkpoint/saver.h
  size_t activations = 0;  // the arena: values, their gradients, statistics
  size_t other = 0;        // activations with the opposite --recompute; 0: unknown; not in total()
  size_t scratch = 0;      // of the backend's matrix products
  size_t batch = 0;        // ids, offsets, row keys and alignments; positions
  size_t program = 0;      // libraries, vocabularies and settings
  size_t translating = 0;  // decoding for --valid-metric bleu and chrf
  // Anonymous memory, in bytes. The token ids are a mapped file; validation uses the arena too.
  size_t total() const {
    return parameters + gradients + optimizer_state + update + bf16_weights + sums + saving +
           activations + scratch + batch + program + translating;
  }
};

// Memory besides the model's, in bytes.
struct OtherMemory {
  size_t program = 0;      // in use before the model was allocated
  size_t translating = 0;  // TranslationScorer::bytes()
};

struct PlannedRun {
  Backend& backend;
  Parameters& parameters;
  const Transformer& transformer;
  const TrainOptions& options;
  OtherMemory rest;
  int ranks = 1;  // that share the batches of a step; the plan is for one of them
};
MemoryPlan plan_memory(const PlannedRun& run, const std::vector<int>& capacities);
// Arena bytes for batches of these capacities.
size_t plan_activations(const PlannedRun& run, const std::vector<int>& capacities);

// Throws Error if the GPU lacks memory for the part of the plan that is not allocated yet:
// activations, batches and the copy for saves. Does nothing on the CPU.
void check_device_memory(Backend& backend, const MemoryPlan& memory);

// The parts of a plan that are not 0 or always listed, with their names and bytes.
std::vector<std::pair<const char*, size_t>> memory_parts(const MemoryPlan& memory);

// "36.4 MiB", "69.5 GiB".
std::string binary_size(size_t bytes);

// FLOPs of the matrix products of a step (forward and backward) with this number of tokens on each
// side, by the formula of tx-paper(7), Table 2: 6 per weight and token, without attention scores.
double step_flops(const ModelConfig& config, const std::vector<double>& tokens);

// A dummy batch of the most memory: sentences `growth` times as long as the longest of the text.
Batch worst_batch(const PairLengths& lengths, const std::vector<int>& capacities, int growth = 1);

// "1,448 source + 1,500 target": a number for each side, separated by `between`.
std::string by_side(const ModelConfig& config, const std::vector<int>& numbers,
                    const std::string& between);

struct BatchShape {
  int min;                                          // target tokens that hold the longest pair
  std::function<std::vector<int>(int)> capacities;  // of each side, by target tokens
};
// For texts, the first of which is trained on; their caches must outlive it.
BatchShape shape_of(const std::vector<PairLengths>& texts);

// The maximum of --batch-tokens auto, the paper's batch, unless the longest pair needs more.
constexpr int max_auto_tokens = 25024;

// The batch size: that of --batch-tokens, or for auto the largest multiple of 64 up to
// max_auto_tokens whose plan fits --memory or, without it, the memory available. UsageError if
// the plan, or the longest sentence pair, does not fit.
int resolve_batch_tokens(const PlannedRun& run, const BatchShape& shape);

}  // namespace tx
