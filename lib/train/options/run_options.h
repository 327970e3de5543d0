// What the options of tx-train become by what a run starts from: nothing, a model (--init), or a
// run to resume.
#pragma once
#include "lib/base/json.h"
#include "lib/base/log.h"
#include "lib/train/options/options.h"

namespace tx {

// Settles what the machine decides (device, precision, threads) and checks the options; a preset
// that is open stays open (lib/train/options/preset.h).
void resolve_run(TrainOptions& options, const Options& given, const Log& log);

// --init: the options take the shape of that model; one given on the command line must agree.
void adopt_shape(TrainOptions& options, const Options& given);

// Compares the options given beside --resume with those of the run: warnings for those that may
// change its last bits, UsageError for alignments that it began without, or with.
void check_changes(const Json& before, const Options& given, const Log& log);

// Notes the options in config.json. Another --save-every is that of the steps to come; which
// checkpoints were asked for up to `step`, where the run is resumed, is noted too.
void note_options(Json& config, const Json& options, int64_t step);

}  // namespace tx
