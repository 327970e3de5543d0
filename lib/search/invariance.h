// Shows on a text of the user's own that a line's translation does not depend on its company.
#pragma once
#include <string>

#include "lib/search/lines.h"
#include "lib/text/corpus.h"

namespace tx {

// Translates the whole text several times: in batches as usual, each line alone, in reverse order,
// in random batches on all threads. Compares the pieces and the bits of every score. Returns a
// report of a few lines; a difference is an Error that names the first line. Holds the text in
// memory.
std::string check_invariance(TextReader& in, const Translator& translator,
                             const LineOptions& options);

}  // namespace tx
