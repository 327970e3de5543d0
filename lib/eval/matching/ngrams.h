// N-grams that a hypothesis shares with its references, for one segment at a time.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/eval/matching/interner.h"
#include "lib/eval/tokenizers/unicode.h"

namespace tx {

// Index n - 1 holds order n.
struct NgramCounts {
  std::vector<int64_t> total;    // n-grams of the hypothesis
  std::vector<int64_t> matched;  // those also in a reference, each at most as often as in the
                                 // reference that has it most often (Papineni et al., 2002)
};

class NgramMatcher {
 public:
  explicit NgramMatcher(int max_order);
  void begin(const Tokens& hypothesis);  // its text must live until finish()
  void add_reference(const Tokens& reference);
  const NgramCounts& finish();

 private:
  struct Seen {
    size_t order;  // minus 1
    int64_t in_hypothesis = 0, in_reference = 0, max = 0;
  };
  // An n-gram's key is the number of its first n - 1 words as an n-gram and that of its last word:
  // exact, without ever building the n-gram.
  static uint64_t key(int32_t prefix, int32_t word) {
    return uint64_t(uint32_t(prefix)) << 32 | uint32_t(word);
  }

  Interner<std::string_view> words_;   // of the hypothesis
  Interner<uint64_t> ngrams_;          // of the hypothesis
  std::vector<Seen> seen_;             // by n-gram
  std::vector<int32_t> word_, ngram_;  // by position: the word, the n-gram that begins there
  NgramCounts counts_;
};

}  // namespace tx
