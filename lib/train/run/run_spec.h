// The inputs of a run, the same on every rank, and what was chosen when it began.
#pragma once
#include "lib/train/input/data.h"
#include "lib/train/input/translation.h"
#include "lib/train/ranks/replicas.h"

namespace tx {

struct RunSpec {
  Vocabularies vocabularies;
  Corpora corpora;
  ModelConfig model;
  TranslationTask translations;        // no metrics: nothing is translated
  int batch_tokens = 0;                // 0: Run determines how many fit
  std::vector<int64_t> frozen_tokens;  // of --freeze-old-tokens: Parameters::freeze()
  std::string products;                // algorithms of a GPU's matrix products; "": the defaults

  // The maximum length of a sentence, including </s>, in tokens, over all sides and texts.
  int longest_sentence(const TrainOptions& options) const;
};

// For a new run (`model` empty), or one that resumes from the file `model`. `config` records the
// text that is translated; the directory keeps it. UsageError for options that contradict the data.
RunSpec make_run_spec(const TrainOptions& options, TrainingData data, const RunDirectory& directory,
                      const std::string& model, Json& config);

// Rank 0 sends its spec and options, the others receive: Error where options or text differ.
void send_run_spec(const RunSpec& spec, const TrainOptions& options, const Replicas& replicas);
struct ReceivedRun {
  TrainOptions options;
  RunSpec spec;
};
ReceivedRun receive_run_spec(const TrainOptions& options, const Options& given,
                             const Replicas& replicas);

}  // namespace tx
