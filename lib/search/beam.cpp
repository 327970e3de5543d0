#include "lib/search/beam.h"

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/subword/vocabulary.h"

namespace tx {

double length_penalty(int64_t length, double alpha) {
  return std::pow((5.0 + double(length)) / 6.0, alpha);
}

void check_number(float log_p) {
  if (!std::isnan(log_p)) return;
  throw DataError(
      "the model computes values that are not numbers: it is damaged or its training diverged; "
      "decode with an earlier checkpoint");
}

Beam::Beam(const SearchOptions& options, std::span<const int> forbidden, int64_t longest)
    : options_(options), forbidden_(forbidden.begin(), forbidden.end()), longest_(longest) {
  TX_ASSERT(options.beam >= 1 && longest >= 1);
  open_.push_back({0, PieceTree::root});
  rows_.push_back({-1, Vocabulary::bos});
}

// The best 2W continuations of all rows, best first.
void Beam::collect(const Scores& scores) {
  candidates_.clear();
  for (size_t row = 0; row < open_.size(); ++row) {
    const size_t first = row * size_t(scores.width);
    for (size_t i = first; i < first + size_t(scores.width); ++i) {
      const int32_t token = scores.ids[i];
      if (token < 0) continue;
      if (std::find(forbidden_.begin(), forbidden_.end(), token) != forbidden_.end()) continue;
      check_number(scores.log_p[i]);
      candidates_.push_back(
          {open_[row].log_p + double(scores.log_p[i]), int32_t(row), token, scores.log_p[i]});
    }
  }
  const size_t keep = std::min(candidates_.size(), 2 * size_t(options_.beam));
  const auto better = [](const Candidate& a, const Candidate& b) {
    if (a.log_p != b.log_p) return a.log_p > b.log_p;
    return a.row != b.row ? a.row < b.row : a.token < b.token;
  };
  std::partial_sort(candidates_.begin(), candidates_.begin() + ptrdiff_t(keep), candidates_.end(),
                    better);
  candidates_.resize(keep);
}

void Beam::finish(const Candidate& candidate) {
  const double score = candidate.log_p / length_penalty(length_, options_.alpha);
  const auto place = std::find_if(finished_.begin(), finished_.end(),
                                  [&](const Finished& f) { return f.score < score; });
  finished_.insert(place,
                   {score, candidate.log_p, open_[size_t(candidate.row)].leaf, candidate.own});
  if (finished_.size() > size_t(options_.beam)) finished_.pop_back();
}

// Log P only falls, and alpha >= 0 makes the penalty grow: log P over the largest penalty bounds
// what the best open hypothesis can reach. Greedy search ends with its first <eos>, whatever the
// second-best piece might have led to.
bool Beam::can_improve() const {
  if (open_.empty() || length_ == longest_) return false;
  if (finished_.size() < size_t(options_.beam)) return true;
  if (options_.beam == 1) return false;
  return open_[0].log_p / length_penalty(longest_, options_.alpha) > finished_.back().score;
}

void Beam::advance(const Scores& scores) {
  TX_ASSERT(!done() && scores.ids);
  collect(scores);
  ++length_;
  next_.clear();
  rows_.clear();
  if (candidates_.empty()) return;  // results() takes those that are open
  const size_t beam = size_t(options_.beam);
  for (size_t rank = 0; rank < candidates_.size(); ++rank) {
    const Candidate& c = candidates_[rank];
    if (c.token == Vocabulary::eos) {
      if (rank < beam) finish(c);
    } else if (next_.size() < beam && length_ < longest_) {
      next_.push_back({c.log_p, tree_.add(open_[size_t(c.row)].leaf, c.token, c.own)});
      rows_.push_back({c.row, c.token});
    }
  }
  if (length_ < longest_) open_.swap(next_);  // else results() takes those before the last step
  if (!can_improve()) rows_.clear();
}

std::vector<PieceHypothesis> Beam::results() const {
  TX_ASSERT(done());
  std::vector<PieceHypothesis> out;
  const size_t wanted = size_t(options_.nbest);
  for (const Finished& f : finished_) {
    if (out.size() == wanted) break;
    out.push_back({tree_.path(f.leaf), f.log_p, f.score, true, tree_.log_ps(f.leaf)});
    out.back().piece_log_p.push_back(f.end);
  }
  // At the longest output, or where nothing may follow, it may be that none has ended.
  for (const Open& o : open_) {
    if (!finished_.empty() || out.size() >= wanted) break;
    const double penalty = length_penalty(length_ - 1, options_.alpha);
    out.push_back({tree_.path(o.leaf), o.log_p, o.log_p / penalty, false, tree_.log_ps(o.leaf)});
  }
  return out;
}

}  // namespace tx
