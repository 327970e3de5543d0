// The rules that a user's options and the vocabulary of the outputs ask for.
#pragma once
#include "lib/search/options.h"
#include "lib/search/rules/rule.h"
#include "lib/subword/vocabulary.h"

namespace tx {

// Reads the file of --forbid. IoError where it cannot be read.
Rules make_rules(const SearchOptions& options, const Vocabulary& vocabulary);

}  // namespace tx
