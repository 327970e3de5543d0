// Options of the search (tx-paper(7), 6.1).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/cli/options.h"
#include "lib/subword/vocabulary.h"

namespace tx {

struct SearchOptions {
  int beam = 4;         // W, the beam size; 1 is greedy search
  double alpha = 0.6;   // exponent of the length penalty
  int max_extra = 50;   // maximum output length: source tokens + max_extra
  int nbest = 1;        // outputs per sentence; at most W, unless sampling
  bool sample = false;  // sample instead of beam search; `beam` is then ignored
  double temperature = 1;
  int top_k = 0;     // sample from the k most probable tokens; 0: all
  double top_p = 1;  // nucleus sampling: from the most probable tokens of this total probability
  double min_p = 0;  // sample from tokens with at least min_p times the probability of the best
  uint64_t seed = 1;
  int min_length = 0;          // minimum tokens of an output
  int no_repeat = 0;           // block repeated n-grams of this length; 0: off
  std::string forbid;          // file of words and phrases to block
  std::string shortlist;       // file of a lexical shortlist; "": all tokens are allowed
  int shortlist_first = 100;   // most frequent target tokens to allow
  int shortlist_best = 100;    // most probable target tokens to allow per source token
  bool constraints = false;    // each Source has phrases that its output must contain
  int groups = 0;              // groups of diverse beam search; 0: as many as the beam
  int alternatives = 0;        // outputs, each from another first token on; 0: off
  double diversity = 0;        // penalty of a token that an earlier group chose in this step
  bool prefix = false;         // each Source has the tokens that its output begins with
  bool forced_target = false;  // no search: each Source has the output to score
  // Multilingual models: the token read after <bos>, not part of the output; -1: none.
  int first_token = -1;
  std::vector<int> closing = {Vocabulary::eos};  // the tokens that end a source
  std::vector<int> ends;                         // tokens that end an output as <eos> does

  // Language models, which continue the source.
  bool continues = false;          // the model is a language model
  bool bos = true;                 // whose texts begin with <bos>
  int max_new = 100;               // maximum tokens of an output
  std::vector<std::string> stops;  // strings that end an output

  void describe(Options& options);
  void describe_beam(Options& options);  // only the options of the beam
  // Sets options that the user did not give to the defaults of a model, defaults_of(), unless
  // `check` then throws a UsageError. DataError: a default that is no option of the search.
  void set_defaults(Options& options, const Json& defaults, const std::string& where,
                    const std::function<void()>& check);
  // Sets the default of `groups`, and the beam for the alternatives. UsageError if it does not
  // divide the beam, or nbest exceeds it.
  void check();
  // The maximum length of an output, <eos> included, for a source of `tokens` tokens.
  int64_t longest(int64_t tokens) const {
    return continues ? int64_t(max_new) + 1 : tokens + max_extra + 1;
  }
};

// ((5 + length) / 6) ^ alpha (Wu et al. 2016, eq. 14); length counts <eos>.
double length_penalty(int64_t length, double alpha);

}  // namespace tx
