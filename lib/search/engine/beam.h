// Beam search (tx-paper(7), 6.1). Each step takes the 2W best continuations of the open
// hypotheses. Those among the first W that end in <eos> are finished; the W best others stay open.
// The search ends when W are finished and no open one can still beat the worst of them, or at the
// longest output allowed, or when no token is allowed. Beam 1 is greedy search, which ends
// with its first <eos>.
//
// With required phrases (Rule::fulfilled()) the W open hypotheses are divided among banks, one for
// each number of required tokens in the output (Post and Vilar, 2018).
//
// Deterministic: higher log P first, then the lower row, then the lower token.
#pragma once
#include "lib/search/engine/hypothesis.h"
#include "lib/search/options.h"
#include "lib/search/rules/rule.h"

namespace tx {

class Beam : public SentenceSearch {
 public:
  // `longest`: the most labels of an output, <eos> counted. Tokens in `forbidden`, which must
  // outlive this, are passed over; advance() therefore needs Scores of candidates() tokens per row
  // (or of the whole vocabulary where that is smaller), best first.
  Beam(const SearchOptions& options, std::span<const int> forbidden, int64_t longest);
  // One of so many equal groups of that beam, whose outputs lie in `tree`; results() are all of its
  // outputs.
  Beam(const SearchOptions& options, std::span<const int> forbidden, int64_t longest, int groups,
       std::shared_ptr<TokenTree> tree);
  // The output must contain the phrases of `source`, as `rules` measure it; both must outlive
  // this.
  void require(const Source& source, const Rules& rules);
  static int candidates(const SearchOptions& options, size_t forbidden) {
    return 2 * options.beam + int(forbidden);
  }
  // In the next advance() each of these tokens costs so much when candidates are compared, once for
  // every time it stands here.
  void avoid(std::vector<int32_t> tokens, double cost) {
    avoided_ = std::move(tokens);
    avoided_cost_ = cost;
  }
  void advance(const Scores& scores) override;
  std::vector<TokenHypothesis> results() const override;

 private:
  struct Candidate {
    double rank;  // log P but for what avoid() takes off
    double log_p;
    int32_t row, token;
    float own;         // log P of the token alone
    int64_t bank = 0;  // required tokens in the output
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
  void keep_best(size_t count);
  void finish(const Candidate& candidate);
  bool can_improve() const;

  size_t width_, nbest_;
  double alpha_;
  std::span<const int> forbidden_;
  int64_t longest_, length_ = 0;
  std::vector<Open> open_, next_;      // best first, but for banks
  std::vector<Finished> finished_;     // best first, at most W
  std::vector<Candidate> candidates_;  // of this step
  std::vector<int> tokens_;            // of the current output
  std::vector<int32_t> avoided_;
  double avoided_cost_ = 0;
  const Source* source_ = nullptr;  // null: no phrases are required
  const Rules* rules_ = nullptr;
};

// The sizes of the banks of a beam; the last is for outputs with all phrases.
std::vector<size_t> bank_places(const std::vector<size_t>& candidates, size_t beam);

// Diverse beam search (Vijayakumar et al., 2016): a beam in groups, each a beam search of its own
// that goes after the others. To choose its tokens, a group takes --diversity off the log P of a
// token for each open output of an earlier group that has just taken it (Hamming diversity). Scores
// stay those of the model.
class DiverseBeam : public SentenceSearch {
 public:
  // As Beam, `forbidden` likewise; options.beam is a multiple of options.groups. advance() needs as
  // many candidates as a Beam of the whole width.
  DiverseBeam(const SearchOptions& options, std::span<const int> forbidden, int64_t longest);
  void advance(const Scores& scores) override;
  // Of all groups, best first, each text once.
  std::vector<TokenHypothesis> results() const override;

 private:
  void gather_rows();
  size_t nbest_;
  double diversity_;
  bool started_ = false;
  std::vector<Beam> groups_;
  std::vector<size_t> first_row_;  // of each group in rows()
};

}  // namespace tx
