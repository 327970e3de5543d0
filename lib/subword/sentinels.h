// The tokens that stand for spans to guess, <extra_id_0>, <extra_id_1> and on, as T5 names them
// (Raffel et al., 2020). A vocabulary has them as user symbols, or as words.
#pragma once
#include <string>
#include <vector>

#include "lib/subword/vocabularies.h"

namespace tx {

inline constexpr char sentinel_begin[] = "<extra_id_";
inline constexpr int added_sentinels = 100;

std::string sentinel_text(int number);
// Their ids, from <extra_id_0> on up to the first that is missing.
std::vector<int> sentinels_of(const Vocabulary& vocabulary);
// The vocabulary with added_sentinels of them behind its tokens; itself where it has some already.
// A UsageError for one that can get none.
Vocabularies::Pointer with_sentinels(const Vocabularies::Pointer& vocabulary);

}  // namespace tx
