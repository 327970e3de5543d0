// Checks of training on the user's own model and text.
#pragma once
#include <string>
#include <vector>

#include "lib/base/log.h"
#include "lib/train/options/options.h"
#include "lib/train/input/translation.h"

namespace tx {

// tx-train --parity: runs one step of the given model and text on every device and precision of
// this machine and compares it, tensor by tensor, with fp32 on the CPU. `options` are resolved.
// Returns the exit status: 0 if the losses and all gradients are within the printed bounds, else 1.
int parity(TrainOptions options, const Options& given, const Log& log);

// tx-train --replay: runs the step of the flight record options.replay again, tx-run(5), prints
// whether it is bit-identical. Returns the exit status, 0 or 1.
int replay(const TrainOptions& options, const Log& log);

// tx-train --selftest-resume: verifies on the user's data that a killed run resumes
// bit-identically. Runs short trainings with these `arguments` as child processes in a temporary
// directory, kills one during saves and at other times, resumes it each time and compares all
// checkpoints. Returns the exit status: 0 if all bytes are equal, else 1, and keeps the directory.
int selftest_resume(const TrainOptions& options, std::vector<std::string> arguments,
                    const Log& log);

// A MakeTranslationScorer: greedy search with the parameters in memory, and the metrics of
// lib/eval. The scores equal those of tx-decode --beam 1 and tx-bleu for the saved model in the
// training's precision. On the CPU it packs the weights, which doubles their memory.
std::unique_ptr<TranslationScorer> make_translation_scorer(Parameters& parameters,
                                                           TranslationTask task);

}  // namespace tx
