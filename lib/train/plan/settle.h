// Completes the options of a run by its text, which chooses the preset; before: resolve.h.
#pragma once
#include <string>
#include <vector>

#include "lib/base/log.h"
#include "lib/train/input/data.h"
#include "lib/train/options/options.h"
#include "lib/train/plan/schedule.h"

namespace tx {

// Bounds of choose_preset(), in target tokens of the training text, </s> included.
constexpr int64_t toy_tokens = 50000;      // below: toy, whose run reads 430,000
constexpr int64_t base_tokens = 25000000;  // from here on, on a GPU: base, of which an epoch is
                                           // then 1,000 steps or more

struct PresetChoice {
  Preset preset = Preset::automatic;  // toy, modern, tiny or base
  std::string why;                    // "for fewer than 50,000 target tokens; this text has 13,000"
  int64_t tokens = 0;                 // of the text that is predicted, ends of sentences included
};

struct TextSize {
  std::vector<int64_t> tokens;  // of each side of the training text, ends of sentences included
  bool fits_toy = true;         // toy's small batches hold the longest sentence
  int64_t target() const { return tokens.back(); }
  const char* unit() const { return tokens.size() > 1 ? " target tokens" : " tokens"; }
};

// The preset for a text and a device; tiny for modern without Muon. settle_preset() adds `tokens`.
PresetChoice choose_preset(const TextSize& text, Device device, bool muon = true);

struct TextPlan {
  TrainOptions options;
  PresetChoice choice;  // automatic: the preset was not open
};

// Chooses an open preset by the text, keeps every option given and resolves the options again.
// tiny and base get --patience if the run validates. With --init the preset is fine_tuning: the
// size of the text determines the batches, the width of the model the learning rate.
TextPlan settle_preset(const TrainOptions& options, const Options& given, const Corpora& corpora);

// Fixes the size of a batch for these options; returns the counter of the run's steps.
using FixBatch = std::function<CountSteps(const TrainOptions& options)>;

// All that a text settles, in order: the preset; the size of a batch; the steps, unless --steps is
// given, and a schedule that fits them. Logs the preset and why. With --epochs the steps are those
// of the epochs; otherwise the size of the text sets those of modern and of fine-tuning, and limits
// those of tiny and base. `fix_batch` may move `corpora` away.
TrainOptions settle(const TrainOptions& options, const Options& given, const Corpora& corpora,
                    const FixBatch& fix_batch, const Log& log);

}  // namespace tx
