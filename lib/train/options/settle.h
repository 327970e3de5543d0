// Completes the options of tx-train from what a run starts with: a text, which chooses the preset;
// a model (--init); or a run to resume.
#pragma once
#include <string>
#include <vector>

#include "lib/base/json.h"
#include "lib/base/log.h"
#include "lib/train/options/options.h"
#include "lib/train/options/schedule.h"
#include "lib/train/run/data.h"

namespace tx {

// Resolves what depends on the machine (device, precision, threads) and checks the options. A
// preset that depends on the text is chosen later, by settle_preset().
void resolve_run(TrainOptions& options, const Options& given, const Log& log);

// --init: takes the shape of that model; UsageError for an option given that contradicts it.
void adopt_shape(TrainOptions& options, const Options& given);

// Compares the options given with --resume with those of the run. Warns of those that may change
// the last bits; UsageError if --guided-alignment was added or removed.
void check_changes(const Json& before, const Options& given, const Log& log);

// Writes the options into config.json. A new --save-every applies after `step`, at which the run is
// resumed; the earlier value is recorded too.
void note_options(Json& config, const Json& options, int64_t step);

// Bounds of choose_preset(), in target tokens of the training text, </s> included.
constexpr int64_t toy_tokens = 50000;      // below: toy, whose run reads 430,000
constexpr int64_t base_tokens = 25000000;  // from here on, on a GPU: base, of which an epoch is
                                           // then 1,000 steps or more

struct PresetChoice {
  std::string name;    // toy, modern, tiny or base
  std::string why;     // "for fewer than 50,000 target tokens; this text has 13,000"
  int64_t tokens = 0;  // of the text that is predicted, ends of sentences included
};

struct TextSize {
  std::vector<int64_t> tokens;  // of each side of the training text, ends of sentences included
  bool fits_toy = true;         // toy's small batches hold the longest sentence
  int64_t target() const { return tokens.back(); }
  const char* unit() const { return tokens.size() > 1 ? " target tokens" : " tokens"; }
};

// The preset for a text and a device; independent of time and free memory. Without Muon, tiny takes
// the place of modern. settle_preset() adds `tokens`.
PresetChoice choose_preset(const TextSize& text, const std::string& device, bool muon = true);

// Whether the preset is still to be chosen: --preset is auto, no run is resumed, and neither the
// command line nor --config names the size of the model; or --init is given, whose model has it.
bool preset_is_open(const TrainOptions& options, const Options& given);

// The name of the preset of a run with --init and no --preset: settings for fine-tuning.
constexpr char fine_tuning[] = "fine-tune";

// Every option's value in a preset.
Json preset_settings(const std::string& name);

// Chooses an open preset by the text, keeps every option given and resolves the options again;
// settle_length() completes it. tiny and base get --patience if the run validates. With --init the
// preset is fine_tuning: the size of the text determines the batches, the width of the model the
// learning rate.
PresetChoice settle_preset(TrainOptions& options, Options& given, const Corpora& corpora);

// Once the size of a batch is known: chooses the number of steps, unless --steps is given, fits the
// schedule, and logs the choice of the preset and its reason. With --epochs the steps are those of
// these epochs; otherwise the size of the text determines those of modern and of fine-tuning, and
// limits those of tiny and base.
void settle_length(TrainOptions& options, const Options& given, const PresetChoice& choice,
                   const CountSteps& count, const Log& log);

}  // namespace tx
