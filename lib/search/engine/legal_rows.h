// Keeps the candidates of a beam's rows to what may come next (lib/search/rules/rule.h): others are
// struck out before the search sees them, and the next best take their place. What happens to a row
// depends on that row alone.
#pragma once
#include <span>
#include <vector>

#include "lib/search/engine/scorer.h"
#include "lib/search/rules/rule.h"

namespace tx {

class LegalRows {
 public:
  // forbidden: tokens that are struck unless a prefix forces them. wanted: how many candidates a
  // search needs for each row, as far as there are so many. `rules` must outlive this.
  LegalRows(const Rules& rules, std::vector<int> forbidden, int wanted)
      : rules_(rules), forbidden_(std::move(forbidden)), wanted_(wanted) {}

  // The rows of the next step: begin(), then one add() per row. leaf: of its output so far in
  // `tree`, which must not change before strike(); left: tokens that it may still get after this
  // step.
  void begin() { rows_.clear(); }
  void add(const TokenTree& tree, int32_t leaf, int64_t left, const Source* source) {
    rows_.push_back({&tree, leaf, left, source});
  }
  // Strikes what may not come next out of what scorer.step() gave: such ids become -1. A row left
  // with too few candidates, or without one that a rule wishes for, is searched again over the
  // whole vocabulary; what is wished for then takes the places of the least likely.
  void strike(Scorer& scorer);

 private:
  struct Row {
    const TokenTree* tree;
    int32_t leaf;
    int64_t left;
    const Source* source;
  };
  OpenOutput output_of(const Row& row) {  // until the next call
    row.tree->path(row.leaf, tokens_);
    return {tokens_, row.left, row.source};
  }
  bool may_follow(const OpenOutput& output, int token) const;
  bool strike_candidates(const Row& row, std::span<int32_t> ids);
  void put_wishes(const OpenOutput& output, std::span<const float> log_p, std::span<float> values,
                  std::span<int32_t> ids);
  void look_again(Scorer& scorer);
  void choose(const Row& row, std::span<const float> log_p, std::span<float> values,
              std::span<int32_t> ids);

  const Rules& rules_;
  std::vector<int> forbidden_;
  int wanted_;
  std::vector<Row> rows_;
  std::vector<int> tokens_;     // of the row at hand
  std::vector<int32_t> again_;  // rows left with too few candidates
  std::vector<int32_t> order_;
  std::vector<int> wishes_;  // of the row at hand
};

}  // namespace tx
