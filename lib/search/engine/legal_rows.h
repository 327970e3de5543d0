// Replaces candidates that the rules (lib/search/rules/rule.h) do not allow by the next best,
// before the search sees the rows of a beam. Each row is processed by itself.
#pragma once
#include <span>
#include <vector>

#include "lib/search/engine/scorer.h"
#include "lib/search/rules/rule.h"

namespace tx {

class LegalRows {
 public:
  // forbidden: tokens that are removed unless a prefix forces them. wanted: the number of
  // candidates that a search needs for each row, if there are that many. `rules` must outlive this.
  LegalRows(const Rules& rules, std::vector<int> forbidden, int wanted)
      : rules_(rules), forbidden_(std::move(forbidden)), wanted_(wanted) {}

  // Set the rows of the next step: begin(), then one add() per row. leaf: the end of the row's
  // output in `tree`, which must not change before strike(). left: tokens that may follow it.
  void begin() { rows_.clear(); }
  void add(const TokenTree& tree, int32_t leaf, int64_t left, const Source* source) {
    rows_.push_back({&tree, leaf, left, source});
  }
  // A row whose output is the first `tokens` tokens of the source's prefix.
  void add_prefix(size_t tokens, int64_t left, const Source* source) {
    rows_.push_back({nullptr, int32_t(tokens), left, source});
  }
  // Replaces candidates of scorer.step() that are not allowed by -1. If too few candidates of a row
  // are left, or a required token is missing, its candidates are selected again from the whole
  // vocabulary, and required tokens replace the least probable ones.
  void strike(Scorer& scorer);

 private:
  struct Row {
    const TokenTree* tree;  // null: `leaf` is the argument of add_prefix()
    int32_t leaf;
    int64_t left;
    const Source* source;
  };
  OpenOutput output_of(const Row& row);  // until the next call
  void find_required(const OpenOutput& output) {
    required_.clear();
    if (!is_forced_) rules_.required_tokens(output, required_);
  }
  bool may_follow(const OpenOutput& output, int token) const;
  bool strike_candidates(const Row& row, std::span<int32_t> ids);
  void put_required(const OpenOutput& output, std::span<const float> log_p, std::span<float> values,
                    std::span<int32_t> ids);
  void look_again(Scorer& scorer);
  void choose(const Row& row, std::span<const float> log_p, std::span<float> values,
              std::span<int32_t> ids);

  const Rules& rules_;
  std::vector<int> forbidden_;
  int wanted_;
  std::vector<Row> rows_;
  std::vector<int> tokens_;  // of the current row
  bool is_forced_ = false;   // whether forced_ are the only tokens that may follow it
  std::vector<int> forced_;
  std::vector<int32_t> again_;  // rows left with too few candidates
  std::vector<int32_t> order_;
  std::vector<int> required_;  // of the current row
};

}  // namespace tx
