// Statistics of attention heads over a text: means over the rows of all lines.
#pragma once
#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/attention/record.h"

namespace tx {

// Statistics of a head, defined in tx-attn-dump(1).
struct HeadFigures {
  static constexpr const char* names[] = {"entropy",    "distance", "previous",  "self",
                                          "next",       "first",    "eos",       "punctuation",
                                          "confidence", "equal",    "induction", "rarest"};
  static constexpr size_t count = std::size(names);
  enum Figure {
    entropy,
    distance,
    previous,
    self,
    next,
    first,
    eos,
    punctuation,
    confidence,
    equal,
    induction,
    rarest
  };

  AttentionKind kind;
  int layer = 0, head = 0;
  int64_t rows = 0;
  std::array<double, count> values{};  // means, indexed by Figure; entropy in nats
};

// Two heads of one kind.
struct HeadPair {
  AttentionKind kind;
  int layer = 0, head = 0, other_layer = 0, other_head = 0;
  double distance = 0;  // Jensen-Shannon, mean over rows, from 0 to sqrt(ln 2)
};

// How often each token (or word) occurs in a text, on the two sides that heads attend to.
struct TokenFrequencies {
  std::unordered_map<std::string, int64_t> source, input;
  void add(const AttentionRecord& record);  // its lists source and input
};

class AttentionStatistics {
 public:
  // `pairs`: also computes distances, which takes longer. `frequencies`: of the whole text, kept by
  // reference; null: no figure `rarest`. The selection must have weights, not means.
  explicit AttentionStatistics(const Selection& selection, bool pairs = false,
                               const TokenFrequencies* frequencies = nullptr);
  // Ignores the record of a blank line.
  void add(const AttentionRecord& record);
  // Adds the sums of another object of the same selection, in the order of the calls.
  void add(const AttentionStatistics& other);

  int64_t lines() const { return lines_; }  // not blank
  // The number of figures that heads() has: all or, without frequencies, all but the last.
  size_t figures() const { return HeadFigures::count - !frequencies_; }
  std::vector<HeadFigures> heads() const;  // in the order of kinds, layers and heads
  std::vector<HeadPair> pairs() const;

 private:
  struct Sums {
    std::array<double, HeadFigures::count> values{};
    std::array<int64_t, HeadFigures::count> rows{};  // that have a value
  };
  struct Kind {
    AttentionKind kind;
    std::vector<int> layers;
    std::vector<Sums> heads;        // [layer * heads + head]
    std::vector<double> distances;  // [first * count + second], first < second
  };
  void add_distances(Kind& kind, const std::vector<const AttentionMap*>& maps);

  std::vector<int> head_numbers_;
  bool pairs_, shift_;
  const TokenFrequencies* frequencies_;
  int64_t lines_ = 0;
  std::vector<Kind> kinds_;
};

// Figures of heads or pairs, a row for each.
struct FigureTable {
  std::string name;  // of the rows in the JSON object
  Json facts;        // other members of that object
  std::vector<std::string> columns;
  std::vector<Json> rows = {};  // arrays of a value for each column

  // TSV or a JSON object, with `digits` decimal places.
  std::string text(bool as_json, int digits) const;
  Json json() const;  // in full precision
};
FigureTable heads_table(const AttentionStatistics& statistics);
FigureTable pairs_table(const AttentionStatistics& statistics);
// The same object with fractions rounded to `digits` decimal places.
Json rounded(const Json& figures, int digits);

// --stats scores: the variance of attention scores with and without the division by sqrt(d_k)
// (Vaswani et al. 2017, section 3.2.1), over the visible positions of all lines.
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
  // Adds the sums of another object of the same selection, in the order of the calls.
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

FigureTable scores_table(const ScoreStatistics& statistics);

}  // namespace tx
