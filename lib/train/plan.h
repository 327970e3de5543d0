// The memory and the arithmetic of a run, from shapes alone.
#pragma once
#include <string>
#include <vector>

#include "lib/text/cache.h"
#include "lib/train/options.h"

namespace tx {

struct MemoryPlan {
  size_t parameters = 0, gradients = 0, moments = 0, copy = 0;  // bytes
  size_t activations = 0;  // the arena: values, their gradients, statistics
  size_t scratch = 0;      // of the backend's products
  size_t batch = 0;        // ids, offsets and row keys; positions
  size_t total() const {
    return parameters + gradients + moments + copy + activations + scratch + batch;
  }
};

MemoryPlan plan_memory(Backend& backend, Parameters& parameters, const Transformer& transformer,
                       const TrainOptions& options, const std::vector<int>& capacities);

// Product FLOPs of a training step (forward and backward) on Ns source and Nt target tokens; the
// formula of PERFORMANCE: 6 a weight and token, attention apart.
double step_flops(const ModelConfig& config, double source_tokens, double target_tokens);

// What --describe prints: every block with shape and parameters, memory, FLOPs of a step.
std::string describe_run(const ModelConfig& config, const MemoryPlan& memory,
                         const std::vector<int>& capacities, int accumulate);
std::string describe_memory(const MemoryPlan& memory);

// "2G", "800M", "512K" or bytes; UsageError that begins with `option`.
int64_t parse_size(const std::string& text, const std::string& option);

// The number of --batch-tokens, which is not "auto"; UsageError when it is none.
int parse_batch_tokens(const std::string& text);

// The batch size to use: the number given, or the largest multiple of 64 whose plan fits `limit`.
int resolve_batch_tokens(Backend& backend, Parameters& parameters, const Transformer& transformer,
                         const TrainOptions& options, const IdCache& cache);

}  // namespace tx
