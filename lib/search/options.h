// Options of the search (tx-paper(7), 6.1).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "lib/cli/options.h"
#include "lib/subword/vocabulary.h"

namespace tx {

struct SearchOptions {
  int beam = 4;         // W, hypotheses kept open; 1 is greedy
  double alpha = 0.6;   // of the length penalty
  int max_extra = 50;   // tokens that the output may be longer than the source
  int nbest = 1;        // translations per sentence, at most W
  bool sample = false;  // draw tokens instead of searching; the beam is not used then
  double temperature = 1;
  int top_k = 0;     // draw among the k likeliest tokens; 0: all
  double top_p = 1;  // draw among the likeliest tokens that together have this probability
  double min_p =
      0;  // draw among tokens with at least this share of the likeliest one's probability
  uint64_t seed = 1;
  int min_length = 0;          // tokens of an output, at least
  int no_repeat = 0;           // block repeated n-grams of this length; 0: off
  std::string forbid;          // a file of words and phrases to block
  std::string shortlist;       // a lexical shortlist; "": all tokens are allowed
  int shortlist_first = 100;   // of the most frequent tokens
  int shortlist_best = 100;    // of those that go with a token of the source
  bool constraints = false;    // a source comes with phrases that its output must contain
  int groups = 0;              // of diverse beam search; 0: as many as the beam
  double diversity = 0;        // cost of a token that another group has taken
  bool prefix = false;         // a source comes with the tokens that its output begins with
  bool forced_target = false;  // no search: each source comes with the output to score
  // Of a multilingual model: what the decoder reads after <bos>, which is not part of the output,
  // or -1; and what ends a source.
  int first_token = -1;
  std::vector<int> closing = {Vocabulary::eos};

  // Of a language model, which continues its source.
  bool continues = false;          // the model is one
  int max_new = 100;               // tokens of an output
  std::vector<std::string> stops;  // strings that end an output

  void describe(Options& options);
  void describe_beam(Options& options);  // only the options of the beam
  // Settles the groups. UsageError for more outputs than the beam has, or unequal groups.
  void check();
  // The most labels an output of a source of `tokens` can have: its tokens and <eos>.
  int64_t longest(int64_t tokens) const {
    return continues ? int64_t(max_new) + 1 : tokens + max_extra + 1;
  }
};

// ((5 + length) / 6) ^ alpha (Wu et al. 2016, eq. 14); length counts <eos>.
double length_penalty(int64_t length, double alpha);

}  // namespace tx
