// What a run is made of, the same on every rank: texts, vocabularies, the shape of its model, and
// what was chosen when it began.
#pragma once
#include "lib/train/ranks/replicas.h"
#include "lib/train/run/data.h"
#include "lib/train/run/translation_scorer.h"

namespace tx {

struct RunSpec {
  Vocabularies vocabularies;
  Corpora corpora;
  ModelConfig model;
  TranslationTask translations;  // without metrics: nothing is translated
  int batch_tokens = 0;          // 0: Run finds how many fit
  std::string products;          // how a GPU's products are computed; "": as they come

  // Tokens of a sentence with its end, over all sides and texts.
  int longest_sentence(const TrainOptions& options) const;
};

// Of a run that begins, or goes on from `model`, a file ("": it begins). `config`, which becomes
// config.json, notes the text that is translated. UsageError for options that contradict the data.
RunSpec make_run_spec(const TrainOptions& options, TrainingData data, const std::string& model,
                      Json& config);

// The spec and the options of rank 0 go to all ranks: rank 0 tells, the others hear. Error where
// this rank has other options or another text.
void tell_run_spec(const RunSpec& spec, const TrainOptions& options, const Options& given,
                   const Replicas& replicas);
RunSpec hear_run_spec(TrainOptions& options, Options& given, const Replicas& replicas);

}  // namespace tx
