// Beam search (tx-paper(7), 6.1). Each step takes the 2W best continuations of the open
// hypotheses. Those among the first W that end in <eos> are finished; the W best others stay open.
// The search ends when W are finished and no open one can still beat the worst of them, or at the
// longest output allowed, or where nothing may follow any more. Beam 1 is greedy search, which ends
// with its first <eos>.
//
// Deterministic: higher log P first, then the lower row, then the lower piece.
#pragma once
#include "lib/search/hypothesis.h"
#include "lib/search/options.h"

namespace tx {

class Beam : public SentenceSearch {
 public:
  // `longest`: the most labels of an output, <eos> counted. Pieces in `forbidden` are passed over;
  // advance() therefore needs Scores of candidates() pieces per row (or of the whole vocabulary
  // where that is smaller), best first.
  Beam(const SearchOptions& options, std::span<const int> forbidden, int64_t longest);
  static int candidates(const SearchOptions& options, size_t forbidden) {
    return 2 * options.beam + int(forbidden);
  }
  void advance(const Scores& scores) override;
  std::vector<PieceHypothesis> results() const override;

 private:
  struct Candidate {
    double log_p;
    int32_t row, token;
    float own;  // log P of the token alone
  };
  struct Open {
    double log_p;
    int32_t leaf;
  };
  struct Finished {
    double score, log_p;
    int32_t leaf;
    float end;  // log P of <eos> alone
  };
  void collect(const Scores& scores);
  void finish(const Candidate& candidate);
  bool can_improve() const;

  SearchOptions options_;
  std::vector<int> forbidden_;
  int64_t longest_, length_ = 0;
  PieceTree tree_;
  std::vector<Open> open_, next_;      // best first
  std::vector<Finished> finished_;     // best first, at most W
  std::vector<Candidate> candidates_;  // of this step
};

}  // namespace tx
