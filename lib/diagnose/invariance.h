// Shows on the user's own text that a line's translation does not depend on its company.
#pragma once
#include <string>
#include <vector>

#include "lib/search/lines/lines.h"
#include "lib/text/corpus.h"

namespace tx {

// Translates the whole text several times: in batches as usual, each line alone by one worker, in
// reverse order by three, in random batches on all threads and on one more than that. Compares the
// tokens and the bits of every score. Returns a report of a few lines that ends with the verdict; a
// difference is an Error that tells how many lines differ each way and shows the first. Holds the
// text in memory.
std::string check_invariance(LinePairs& in, const Translator& translator,
                             const LineOptions& options, const Log& log);

// Indices at which the tokens of an output, the bits of its score or log P, or whether it is
// complete, differ. Both have the same size.
std::vector<size_t> differing(const std::vector<Translation>& a, const std::vector<Translation>& b);

}  // namespace tx
