// Whether the vocabularies fit the text of a run: a vocabulary of another language, sides exchanged
// or a list of words for raw text train without an error, and the outputs are worth nothing.
#pragma once
#include "lib/base/log.h"
#include "lib/train/run/data.h"

namespace tx {

// Tells the share of <unk> and of byte tokens in the first lines of each side of the training text,
// and warns of a side of it, or of the validation text, where one of them is above 5 %.
void tell_fit(const TrainOptions& options, const Vocabularies& vocabularies, const Corpora& corpora,
              const Log& log);

}  // namespace tx
