// tx-train --describe: the model that options describe, its memory and its batches.
#pragma once
#include <string>
#include <vector>

#include "lib/base/log.h"
#include "lib/train/input/translation.h"
#include "lib/train/plan/memory.h"

namespace tx {

// Of the run to resume, or of a new run, settled as it would be; by default the paper's base model.
struct DescribedModel {
  TrainOptions options;
  ModelConfig model;
};
DescribedModel describe_model(const TrainOptions& options, const Options& given, const Log& log);

// That model, its memory on one of `ranks` ranks, and the tokens of a batch on each side.
struct DescribedRun : DescribedModel {
  MemoryPlan memory;
  std::vector<int> capacities;
};
DescribedRun describe_run(const TrainOptions& options, const Options& given,
                          const MakeTranslationScorer& scorer, int ranks, const Log& log);

// The text of --describe: the data flow, every weight with its shape, memory, FLOPs of a step.
std::string description(const DescribedRun& run);

}  // namespace tx
