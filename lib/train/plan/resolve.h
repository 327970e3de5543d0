// The options of a run before its text is read: checks, what the machine has, a model to start
// from (--init), and a run to resume. Options are values: each function returns completed ones.
// `given` tells which the user chose; the fields that it is bound to are not read.
#pragma once
#include <string>

#include "lib/base/json.h"
#include "lib/base/log.h"
#include "lib/train/options/options.h"

namespace tx {

// Every option with its value, as in config.json.
Json options_json(const TrainOptions& options);

// The options with the values of a JSON of that form, except those given: Options::from_json().
TrainOptions with_values(const TrainOptions& options, const Options& given, const Json& values,
                         const std::string& where);

// The options with what a preset changes, except those that the user chose; take_preset() sets the
// fields of the parser.
TrainOptions with_preset(const TrainOptions& options, const Options& given, Preset preset);
void take_preset(Options& parser, const TrainOptions& options, Preset preset);

// Checks for contradictions and resolves "auto". What depends on the preset is not checked while it
// is open (settle_preset(), lib/train/plan/settle.h).
TrainOptions resolve(TrainOptions options, const Options& given);

// The same for the options of a command line: preset base if the size of the model is given, kind
// and shape of the model of --init, and as many threads as can be started. UsageError for an option
// given that contradicts that model.
TrainOptions resolve_run(TrainOptions options, const Options& given, const Log& log);

// Whether the preset is still to be chosen: --preset is auto, no run is resumed, and neither the
// command line nor --config names the size of the model; or --init is given, whose model has it.
bool preset_is_open(const TrainOptions& options, const Options& given);
bool is_fine_tuning(const TrainOptions& options);  // the latter

// Compares the options given with --resume with those of the run. Warns of those that may change
// the last bits; UsageError if --guided-alignment was added or removed.
void check_changes(const Json& before, const TrainOptions& options, const Options& given,
                   const Log& log);

// Writes the options into config.json, with the earlier --save-every that applied up to `step`.
void note_options(Json& config, const TrainOptions& options, int64_t step);

}  // namespace tx
