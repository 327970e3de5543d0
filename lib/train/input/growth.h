// The tokens that a run adds to the model of --init: --add-tokens and --add-language.
#pragma once
#include "lib/model/parameters.h"
#include "lib/subword/vocabulary.h"
#include "lib/train/options/options.h"

namespace tx {

// `old`, those of the model, with the new tokens behind the old ones: those of --add-tokens in each
// vocabulary that lacks them, then a language in each that has the one it starts from. DataError
// and UsageError name the line or the option: no token, one that exists, one that is not found in
// text, or a language to start from that does not exist.
Vocabularies grown_vocabularies(const Vocabularies& old, const TrainOptions& options);

// The weights of the model of --init. In embeddings, output layer and its bias, the row of a new
// token of `vocabularies` is the mean of the rows of the tokens into which the old vocabulary
// splits it (Gee et al., 2022, "Fast Vocabulary Transfer"), or of all rows if none of them has a
// text; that of a language is the row of the one it starts from.
void load_initial(const TrainOptions& options, const Vocabularies& vocabularies,
                  Parameters& parameters);

}  // namespace tx
