// Diverse beam search (Vijayakumar et al., 2016): a beam in groups, each a beam search of its own
// that goes after the others. To choose its tokens, a group takes --diversity off the log P of a
// token for each open output of an earlier group that has just taken it (Hamming diversity). Scores
// stay those of the model.
#pragma once
#include "lib/search/engine/beam.h"

namespace tx {

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
