// What may come next in an output. A rule is a pure function of the output so far and of what its
// line wishes, so that it cannot depend on company. What may not come is struck out before a search
// sees it, and the next best takes its place (legal_rows.h; Sampling draws again).
// Log-probabilities stay as the model gave them; they are not renormalised.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "lib/search/options.h"
#include "lib/search/source.h"

namespace tx {

// An output that goes on.
struct OpenOutput {
  std::span<const int> tokens;     // so far
  int64_t left = 0;                // tokens that it may still get after the next one
  const Source* source = nullptr;  // whose output it is; null: one without wishes
};

class Rule {
 public:
  virtual ~Rule() = default;
  // Whether this token, or <eos>, may come next.
  virtual bool allows(const OpenOutput& output, int token) const = 0;
  // Adds the tokens that a search shall look at, however unlikely, to `tokens`.
  virtual void wishes(const OpenOutput&, std::vector<int>& tokens) const { (void)tokens; }
  // How much of what must come has come, in tokens (at most those of Source::phrases).
  virtual int64_t met(const OpenOutput&) const { return 0; }
};

// No end before so many tokens.
class MinimumLength : public Rule {
 public:
  explicit MinimumLength(int tokens) : tokens_(tokens) {}
  bool allows(const OpenOutput& output, int token) const override;

 private:
  int tokens_;
};

// The same `length` tokens in a row come once.
class NoRepeat : public Rule {
 public:
  explicit NoRepeat(int length) : length_(length) {}
  bool allows(const OpenOutput& output, int token) const override;

 private:
  int length_;  // at least 1
};

// All rules of a search. Shared by threads.
class Rules {
 public:
  void add(std::shared_ptr<const Rule> rule) { rules_.push_back(std::move(rule)); }
  bool any() const { return !rules_.empty(); }

  // The next token of a prefix that is forced, which no rule is asked about; -1 behind it.
  static int forced(const OpenOutput& output) {
    if (!output.source || output.tokens.size() >= output.source->prefix.size()) return -1;
    return output.source->prefix[output.tokens.size()];
  }
  bool allows(const OpenOutput& output, int token) const {
    for (const auto& rule : rules_)
      if (!rule->allows(output, token)) return false;
    return true;
  }
  // No wishes within a prefix that is forced.
  void wishes(const OpenOutput& output, std::vector<int>& tokens) const {
    tokens.clear();
    if (forced(output) >= 0) return;
    for (const auto& rule : rules_) rule->wishes(output, tokens);
  }
  int64_t met(const OpenOutput& output) const {
    int64_t sum = 0;
    for (const auto& rule : rules_) sum += rule->met(output);
    return sum;
  }

 private:
  std::vector<std::shared_ptr<const Rule>> rules_;
};

// Those that a user's options and the vocabulary of the outputs ask for. Reads the file of
// --forbid; IoError where it cannot be read.
Rules make_rules(const SearchOptions& options, const Vocabulary& vocabulary);

}  // namespace tx
