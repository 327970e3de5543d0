// Output constraints. A rule is a pure function of an output and its source: the search stays
// batch-invariant. The next best tokens replace those not allowed before the search sees them
// (legal_rows.h; Sampling samples again). Log P is that of the model, not renormalised.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "lib/search/options.h"
#include "lib/search/rules/token_texts.h"
#include "lib/search/source.h"

namespace tx {

// An unfinished output.
struct OpenOutput {
  std::span<const int> tokens;     // so far
  int64_t left = 0;                // tokens that may follow the next one
  const Source* source = nullptr;  // null: without prefix and phrases
  // Whether it ends in a forbidden phrase; -1: ForbiddenPhrases has not looked yet.
  mutable signed char ends_forbidden = -1;
};

class Rule {
 public:
  virtual ~Rule() = default;
  // Whether this token, or <eos>, may follow.
  virtual bool allows(const OpenOutput& output, int token) const = 0;
  // Adds to `tokens` those that the search must consider, however unlikely.
  virtual void required_tokens(const OpenOutput&, std::vector<int>& tokens) const { (void)tokens; }
  // The number of required tokens (those of Source::phrases) that the output contains.
  virtual int64_t fulfilled(const OpenOutput&) const { return 0; }
};

// All rules of a search. Shared by threads.
class Rules {
 public:
  void add(std::shared_ptr<const Rule> rule) { rules_.push_back(std::move(rule)); }
  bool any() const { return !rules_.empty(); }

  // For Source::prefix and Source::rest, which need the texts of tokens.
  void begin_with(std::shared_ptr<const TokenTexts> texts) { texts_ = std::move(texts); }
  const TokenTexts* texts() const { return texts_.get(); }  // null: without
  // Within a forced prefix, sets `tokens` to those that may follow, ascending. The prefix is exempt
  // from all rules, except for the end of a token that is longer than the rest of it.
  bool forced(const OpenOutput& output, std::vector<int>& tokens) const;
  bool allows(const OpenOutput& output, int token) const {
    for (const auto& rule : rules_)
      if (!rule->allows(output, token)) return false;
    return true;
  }
  void required_tokens(const OpenOutput& output, std::vector<int>& tokens) const {
    tokens.clear();
    for (const auto& rule : rules_) rule->required_tokens(output, tokens);
  }
  int64_t fulfilled(const OpenOutput& output) const {
    int64_t sum = 0;
    for (const auto& rule : rules_) sum += rule->fulfilled(output);
    return sum;
  }

 private:
  std::vector<std::shared_ptr<const Rule>> rules_;
  std::shared_ptr<const TokenTexts> texts_;
};

// The rules of the options. The vocabulary must outlive them. Reads --forbid; IoError if it cannot.
Rules make_rules(const SearchOptions& options, const Vocabulary& vocabulary);

}  // namespace tx
