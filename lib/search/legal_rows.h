// Keeps the candidates of a beam's rows valid UTF-8 (utf8_guard.h): pieces that may not follow are
// struck out before a search sees them, and the next best take their place. Log-probabilities stay
// as the model gave them; they are not renormalised. What happens to a row depends on that row
// alone.
#pragma once
#include <span>
#include <vector>

#include "lib/search/scorer.h"
#include "lib/search/utf8_guard.h"

namespace tx {

class LegalRows {
 public:
  // wanted: how many candidates a search needs for each row besides `forbidden` pieces (Beam), as
  // far as there are so many; 0: the whole vocabulary.
  LegalRows(const Utf8Guard& guard, std::vector<int> forbidden, int wanted)
      : guard_(guard), forbidden_(std::move(forbidden)), wanted_(wanted) {}

  // The rows of the next step: begin(), then one add() per row. parent: the row of the step before
  // that it continues, or -1; left: pieces that its output may still get after this step.
  void begin();
  void add(int32_t parent, int piece, int64_t left);
  // Strikes illegal pieces out of what scorer.step() gave: their ids become -1. A row left with too
  // few candidates is searched again over the whole vocabulary.
  void strike(Scorer& scorer);

 private:
  struct Row {
    Utf8Guard::State state;
    int64_t left = 0;
  };
  bool strike_candidates(const Row& row, std::span<int32_t> ids) const;
  void look_again(Scorer& scorer);
  void choose(const Row& row, std::span<const float> log_p, std::span<float> values,
              std::span<int32_t> ids);

  const Utf8Guard& guard_;
  std::vector<int> forbidden_;
  int wanted_;
  std::vector<Row> rows_, before_;
  std::vector<int32_t> again_;  // rows left with too few candidates
  std::vector<int32_t> order_;
};

}  // namespace tx
