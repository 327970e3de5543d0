// --stats scores: the variance of attention scores with and without the division by sqrt(d_k)
// (Vaswani et al. 2017, section 3.2.1), over the visible positions of all lines.
#pragma once
#include <string>
#include <vector>

#include "lib/attention/record.h"

namespace tx {

struct HeadScores {
  AttentionKind kind;
  int layer = 0, head = 0;
  int64_t scores = 0;                                  // number of scores that are not masked
  double mean = 0, variance = 0, scaled_variance = 0;  // variances divide by the number
};

class ScoreStatistics {
 public:
  // The selection must have the quantities scores, scaled and masked.
  explicit ScoreStatistics(const Selection& selection);
  // Ignores the record of a blank line.
  void add(const AttentionRecord& record);
  // Adds the sums of another object of the same selection. The same order of calls gives the same
  // bits.
  void add(const ScoreStatistics& other);

  int64_t lines() const { return lines_; }  // not blank
  std::vector<HeadScores> heads() const;    // in the order of kinds, layers and heads

 private:
  struct Sums {
    AttentionKind kind;
    int layer = 0, head = 0;
    int64_t count = 0;
    double scores = 0, squares = 0, scaled = 0, scaled_squares = 0;
  };
  int64_t lines_ = 0;
  std::vector<Sums> sums_;
};

// As heads_as_tsv() and heads_as_json() of lib/attention/statistics.h.
std::string scores_as_tsv(const ScoreStatistics& statistics, int digits);
Json scores_as_json(const ScoreStatistics& statistics);

}  // namespace tx
