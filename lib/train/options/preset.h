// The preset of a run that does not name one: a shape and a length of training that suit its text
// and its device. The same text, vocabulary and device always give the same preset, whatever the
// clock and the free memory.
#pragma once
#include <string>
#include <vector>

#include "lib/base/log.h"
#include "lib/train/options/options.h"
#include "lib/train/run/data.h"

namespace tx {

// Target tokens of a training text, ends of sentences included.
constexpr int64_t toy_tokens = 50000;      // below: toy, whose run reads 430,000
constexpr int64_t base_tokens = 25000000;  // from here on, on a GPU: base, of which an epoch is
                                           // then 1,000 steps or more

struct PresetChoice {
  std::string name;  // toy, tiny or base
  std::string why;   // "for less than 50,000 target tokens; this text has 13,000"
};

struct TextSize {
  std::vector<int64_t> tokens;  // of each side of the training text, ends of sentences included
  bool fits_toy = true;         // toy's batches, which are small, hold the longest sentence
  int64_t target() const { return tokens.back(); }
  const char* unit() const { return tokens.size() > 1 ? " target tokens" : " tokens"; }
};

PresetChoice choose_preset(const TextSize& text, const std::string& device);

// Whether nothing says which preset to take: --preset is auto, and neither --config nor --resume
// nor an option that shapes the model is given; or --init is given, whose model has its shape.
bool preset_is_open(const TrainOptions& options, const Options& given);

// The preset of a run that begins with --init and names none: settings for fine-tuning.
constexpr char fine_tuning[] = "fine-tune";

// Settles a preset that is open: takes what suits this text, beside which every option given keeps
// its value, resolves the options again and says what it is and why. A small text is read no more
// than some times, and where there is a validation the run ends by --patience. With --init it is
// the preset fine_tuning, of which the text's size tells the batches and steps, and the model's
// width the rate.
void settle_preset(TrainOptions& options, Options& given, const Corpora& corpora, const Log& log);

}  // namespace tx
