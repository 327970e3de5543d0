// Beam search (tx-paper(7), 6.1). Each step takes the 2W best continuations of the open hypotheses.
// Of these, the ones that end in <eos> and rank among the first W are finished; the W best of the
// others stay open, until they can no longer beat the finished hypotheses that results() returns.
// The search ends when none is open, at the maximum length, or when no token is allowed. Beam 1 is
// greedy search, which ends with its first <eos>.
//
// With required phrases (Rule::fulfilled()) the W open hypotheses are divided among banks, one for
// each number of required tokens in the output (Post and Vilar, 2018).
//
// Ties are broken deterministically: higher log P first, then the lower row, then the lower token.
#pragma once
#include "lib/search/engine/hypothesis.h"
#include "lib/search/options.h"
#include "lib/search/rules/rule.h"

namespace tx {

class Beam : public SentenceSearch {
 public:
  // longest: maximum length of an output, <eos> included. Tokens in `forbidden`, which must outlive
  // this, are skipped; advance() therefore needs Scores of candidates() tokens per row, or of the
  // whole vocabulary if that is smaller, best first.
  Beam(const SearchOptions& options, std::span<const int> forbidden, int64_t longest);
  // One of `groups` groups of a beam, which share `tree`; results() returns all its outputs.
  Beam(const SearchOptions& options, std::span<const int> forbidden, int64_t longest, int groups,
       std::shared_ptr<TokenTree> tree);
  // Requires the phrases of `source`, whose tokens `rules` count. Both must outlive this.
  void require(const Source& source, const Rules& rules) {
    source_ = &source;
    rules_ = &rules;
  }
  static int candidates(const SearchOptions& options, size_t forbidden) {
    return 2 * options.beam + int(forbidden);
  }
  // In the next advance(), lowers the rank of a token by `cost` for each time it is in `tokens`.
  void avoid(std::vector<int32_t> tokens, double cost) {
    avoided_ = std::move(tokens);
    avoided_cost_ = cost;
  }
  // Whether the next advance() keeps one hypothesis instead of W.
  void keep_one(bool one) { one_ = one; }
  void advance(const Scores& scores) override;
  std::vector<TokenHypothesis> results() const override;

 private:
  struct Candidate {
    double rank;  // log P minus the costs of avoid()
    double log_p;
    int32_t row, token;
    float own;         // log P of the token alone
    int64_t bank = 0;  // required tokens in the output
    bool precedes(const Candidate& other) const;
  };
  struct Open {
    double log_p;
    int32_t leaf;
    int64_t bank = 0;
  };
  struct Finished {
    double score, log_p;
    int32_t leaf;
    float end;  // log P of <eos> alone
  };
  void collect(const Scores& scores);
  void find_banks();
  void share_out();
  void finish(const Candidate& candidate);
  bool can_win(double log_p) const;
  bool can_improve() const;
  void drop_losers();

  size_t width_, nbest_;
  double alpha_;
  std::span<const int> forbidden_;
  int64_t longest_, length_ = 0;
  std::vector<Open> open_, next_;      // best first, unless there are banks
  std::vector<Finished> finished_;     // best first, at most nbest_
  std::vector<Candidate> candidates_;  // of this step
  std::vector<int> tokens_;            // of the current output
  std::vector<int32_t> avoided_;
  double avoided_cost_ = 0;
  bool one_ = false;
  const Source* source_ = nullptr;  // null: no phrases are required
  const Rules* rules_ = nullptr;
};

// The sizes of the banks of a beam; the last is for outputs with all phrases.
std::vector<size_t> bank_places(const std::vector<size_t>& candidates, size_t beam);

// Diverse beam search (Vijayakumar et al., 2016): the beam is divided into groups, each a beam
// search of its own, which choose their tokens one group after another. To rank a token, a group
// subtracts --diversity from its log P for each open output of an earlier group that chose it in
// the same step (Hamming diversity). Scores remain those of the model. With --alternatives groups
// keep one hypothesis each until they can choose different tokens, and are independent from there.
class DiverseBeam : public SentenceSearch {
 public:
  // As Beam; advance() needs the candidates of the whole width. options.groups divides the beam.
  DiverseBeam(const SearchOptions& options, std::span<const int> forbidden, int64_t longest);
  void advance(const Scores& scores) override;
  // The outputs of all groups, best first, without duplicates.
  std::vector<TokenHypothesis> results() const override;

 private:
  void gather_rows();
  size_t nbest_;
  double diversity_;
  const bool alternatives_;
  bool together_;  // the groups have the same tokens so far
  bool started_ = false;
  std::vector<Beam> groups_;
  std::vector<size_t> first_row_;  // first index of each group in rows()
};

}  // namespace tx
