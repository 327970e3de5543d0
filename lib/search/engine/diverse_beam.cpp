#include "lib/search/engine/diverse_beam.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/subword/vocabulary.h"

namespace tx {

DiverseBeam::DiverseBeam(const SearchOptions& options, std::span<const int> forbidden,
                         int64_t longest)
    : nbest_(size_t(options.nbest)), diversity_(options.diversity) {
  TX_ASSERT(options.groups >= 1 && options.beam % options.groups == 0);
  for (int g = 0; g < options.groups; ++g)
    groups_.emplace_back(options, forbidden, longest, options.groups, tree_);
  first_row_.assign(groups_.size(), 0);
  rows_.push_back({-1, Vocabulary::bos});  // the first row of all groups
}

void DiverseBeam::advance(const Scores& scores) {
  TX_ASSERT(!done() && scores.ids);
  std::vector<int32_t> taken;
  for (size_t g = 0; g < groups_.size(); ++g) {
    Beam& group = groups_[g];
    if (group.done()) continue;
    const size_t at = first_row_[g] * size_t(scores.width);
    group.avoid(taken, diversity_);
    group.advance({scores.log_p + at, scores.ids + at, scores.width});
    for (const Row& row : group.rows()) taken.push_back(row.token);
  }
  gather_rows();
}

// A group's rows count its own rows of the step before, which began at first_row_.
void DiverseBeam::gather_rows() {
  rows_.clear();
  for (size_t g = 0; g < groups_.size(); ++g) {
    const auto before = int32_t(first_row_[g]);
    first_row_[g] = rows_.size();
    for (const Row& row : groups_[g].rows())
      rows_.push_back({started_ ? before + row.parent : 0, row.token, row.leaf});
  }
  started_ = true;
}

std::vector<TokenHypothesis> DiverseBeam::results() const {
  TX_ASSERT(done());
  std::vector<TokenHypothesis> out;
  for (const Beam& group : groups_) {
    for (TokenHypothesis& h : group.results()) {
      if (std::ranges::none_of(out, [&](const auto& other) { return other.ids == h.ids; }))
        out.push_back(std::move(h));
    }
  }
  std::ranges::stable_sort(out, [](const auto& a, const auto& b) {
    return a.complete != b.complete ? a.complete : a.score > b.score;
  });
  // Outputs that have not ended are used only where none has.
  const bool ended = out.front().complete;
  std::erase_if(out, [&](const auto& h) { return ended && !h.complete; });
  out.resize(std::min(out.size(), nbest_));
  return out;
}

}  // namespace tx
