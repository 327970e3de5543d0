// Checks of translation on the user's own model and text.
#pragma once
#include <string>
#include <vector>

#include "lib/search/lines/lines.h"
#include "lib/text/corpus.h"

namespace tx {

// tx-decode --compare: how much two models, or one model in two precisions, differ on a text: the
// share of identical translations, BLEU of `a` against `b`, the mean difference of log P, and the
// lines that differ most. Each model uses its own vocabulary. Blank lines are skipped.
std::string compare_translators(LinePairs& in, const Translator& a, const Translator& b,
                                const LineOptions& options, const Log& log);

// tx-decode --check-invariance: verifies on a text that translations are batch-invariant.
// Translates it in regular batches, one line per batch, in reverse order with three workers, and in
// random batches with all threads and with one more; compares the tokens and the bits of every
// score. Returns a short report. Error if any differ, with their number and the first line for each
// kind of batch.
std::string check_invariance(LinePairs& in, const Translator& translator,
                             const LineOptions& options, const Log& log);

// The indices at which tokens, bits of score or log P, or completeness differ.
std::vector<size_t> differing(const std::vector<Translation>& a, const std::vector<Translation>& b);

}  // namespace tx
