// What each part of a training is told, out of the options of tx-train: the one place where both
// are known. A part has a struct of its own settings and knows no option.
#pragma once
#include "lib/base/json.h"
#include "lib/train/checkpointer.h"
#include "lib/train/feed.h"
#include "lib/train/options.h"
#include "lib/train/plan.h"
#include "lib/train/progress.h"
#include "lib/train/schedule.h"
#include "lib/train/session.h"
#include "lib/train/spike_policy.h"
#include "lib/train/step.h"
#include "lib/train/translation_scorer.h"
#include "lib/train/validator.h"

namespace tx {

// The options are resolved. `config` is config.json, which a resumed run adds to.
StepSettings step_settings(const TrainOptions& options);
Schedule rate_schedule(const TrainOptions& options, int64_t d_model);
FeedSettings feed_settings(const TrainOptions& options);  // but for batch_tokens
BatchRequest batch_request(const TrainOptions& options);
SpikeSettings spike_settings(const TrainOptions& options);
// `text`: that of validation, null where there is none.
ValidatorSettings validator_settings(const TrainOptions& options, const IdCache* text);
TranslationSettings translation_settings(const TrainOptions& options);
ProgressSettings progress_settings(const TrainOptions& options);
CheckpointSettings checkpoint_settings(const TrainOptions& options, const Json& config);
SessionSettings session_settings(const TrainOptions& options);

}  // namespace tx
