#include "lib/search/engine/beam.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

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
    : Beam(options, forbidden, longest, 1, std::make_shared<TokenTree>()) {
  nbest_ = size_t(options.nbest);
}

Beam::Beam(const SearchOptions& options, std::span<const int> forbidden, int64_t longest,
           int groups, std::shared_ptr<TokenTree> tree)
    : SentenceSearch(std::move(tree)),
      width_(size_t(options.beam / groups)),
      nbest_(width_),
      alpha_(options.alpha),
      forbidden_(forbidden),
      longest_(longest) {
  TX_ASSERT(width_ >= 1 && longest >= 1);
  open_.push_back({0, TokenTree::root});
  rows_.push_back({-1, Vocabulary::bos});
}

bool Beam::Candidate::precedes(const Candidate& other) const {
  if (rank != other.rank) return rank > other.rank;
  return row != other.row ? row < other.row : token < other.token;
}

// The best 2W continuations of all rows, best first; with required phrases all, in the order of
// the rows. Scores fall along a row, so a row ends where they are too low.
void Beam::collect(const Scores& scores) {
  const size_t most = source_ ? std::numeric_limits<size_t>::max() : 2 * width_;
  candidates_.clear();
  for (size_t row = 0; row < open_.size(); ++row) {
    const size_t first = row * size_t(scores.width);
    for (size_t i = first; i < first + size_t(scores.width); ++i) {
      const int32_t token = scores.ids[i];
      if (token < 0) continue;
      check_number(scores.log_p[i]);
      const double log_p = open_[row].log_p + double(scores.log_p[i]);
      if (candidates_.size() == most && log_p < candidates_.back().rank) break;
      if (std::find(forbidden_.begin(), forbidden_.end(), token) != forbidden_.end()) continue;
      const double cost = avoided_cost_ * double(std::ranges::count(avoided_, token));
      const Candidate one{log_p - cost, log_p, int32_t(row), token, scores.log_p[i]};
      auto place = candidates_.end();
      while (!source_ && place != candidates_.begin() && one.precedes(*(place - 1))) --place;
      candidates_.insert(place, one);
      if (candidates_.size() > most) candidates_.pop_back();
    }
  }
  if (source_) share_out();
}

// The size of each bank (Post and Vilar, 2018, section 4): equal shares, the remainder to the bank
// of outputs with all phrases. Places left go to the next lower bank, then up.
std::vector<size_t> bank_places(const std::vector<size_t>& candidates, size_t beam) {
  const size_t banks = candidates.size();
  std::vector<size_t> places(banks, beam / banks);
  places.back() += beam % banks;
  size_t spare = 0;
  const auto fill = [&](size_t bank) {
    const size_t offered = places[bank] + spare;
    places[bank] = std::min(offered, candidates[bank]);
    spare = offered - places[bank];
  };
  for (size_t bank = banks; bank-- > 0;) fill(bank);
  for (size_t bank = 0; bank < banks; ++bank) fill(bank);
  return places;
}

// Sets the bank of each candidate. Candidates of a row are adjacent.
void Beam::find_banks() {
  int32_t row = -1;
  for (Candidate& c : candidates_) {
    if (c.row != row) tree_->path(open_[size_t(row = c.row)].leaf, tokens_);
    const bool ends = c.token == Vocabulary::eos;
    if (!ends) tokens_.push_back(c.token);
    c.bank = rules_->fulfilled({tokens_, 0, source_});
    if (!ends) tokens_.pop_back();
  }
}

// The W candidates with places in the banks come first, then those that replace the ones that end.
void Beam::share_out() {
  size_t all = 0;
  for (const std::vector<int>& phrase : source_->phrases) all += phrase.size();
  find_banks();
  std::ranges::sort(candidates_, [](const auto& a, const auto& b) { return a.precedes(b); });
  std::vector<size_t> counts(all + 1);
  for (const Candidate& c : candidates_) ++counts[size_t(c.bank)];
  const std::vector<size_t> places = bank_places(counts, width_);
  std::vector<size_t> taken(all + 1);
  std::vector<Candidate> chosen, others;
  for (const Candidate& c : candidates_) {
    const bool has_place = taken[size_t(c.bank)]++ < places[size_t(c.bank)];
    (has_place ? chosen : others).push_back(c);
  }
  candidates_ = std::move(chosen);
  candidates_.insert(candidates_.end(), others.begin(), others.end());
}

void Beam::finish(const Candidate& candidate) {
  const double score = candidate.log_p / length_penalty(length_, alpha_);
  const auto place = std::find_if(finished_.begin(), finished_.end(),
                                  [&](const Finished& f) { return f.score < score; });
  finished_.insert(place,
                   {score, candidate.log_p, open_[size_t(candidate.row)].leaf, candidate.own});
  if (finished_.size() > nbest_) finished_.pop_back();
}

// log P never increases, and with alpha >= 0 the length penalty grows with the length. The score of
// a hypothesis is therefore at most its log P over the penalty of the maximum length.
bool Beam::can_win(double log_p) const {
  if (finished_.size() < nbest_) return true;
  return width_ > 1 && log_p / length_penalty(longest_, alpha_) > finished_.back().score;
}

bool Beam::can_improve() const {
  return length_ < longest_ &&
         std::ranges::any_of(open_, [&](const Open& o) { return can_win(o.log_p); });
}

// Hypotheses that cannot win rank below all that can, so that removing them leaves the others'
// places unchanged. They stay where ranks are not those of log P, and in a group of a DiverseBeam,
// whose later groups avoid the tokens of all its open hypotheses.
void Beam::drop_losers() {
  const bool by_log_p = !source_ && avoided_.empty();
  const bool returns_all = nbest_ == width_;  // as a group does
  if (!by_log_p || returns_all) return;
  while (!open_.empty() && !can_win(open_.back().log_p)) {
    open_.pop_back();
    rows_.pop_back();
  }
}

void Beam::advance(const Scores& scores) {
  TX_ASSERT(!done() && scores.ids);
  collect(scores);
  ++length_;
  next_.clear();
  rows_.clear();
  if (candidates_.empty()) return;  // results() uses the open hypotheses
  const size_t width = one_ ? 1 : width_;
  for (size_t rank = 0; rank < candidates_.size(); ++rank) {
    const Candidate& c = candidates_[rank];
    if (c.token == Vocabulary::eos) {
      if (rank < width) finish(c);
      if (one_) break;  // the one hypothesis
    } else if (next_.size() < width && length_ < longest_) {
      next_.push_back({c.log_p, tree_->add(open_[size_t(c.row)].leaf, c.token, c.own), c.bank});
      rows_.push_back({c.row, c.token, next_.back().leaf});
    }
  }
  if (length_ < longest_) open_.swap(next_);  // else results() uses those before the last step
  if (can_improve())
    drop_losers();
  else
    rows_.clear();
}

std::vector<TokenHypothesis> Beam::results() const {
  TX_ASSERT(done());
  std::vector<TokenHypothesis> out;
  for (const Finished& f : finished_) {
    out.push_back({tree_->path(f.leaf), f.log_p, f.score, true, tree_->log_ps(f.leaf)});
    out.back().token_log_p.push_back(f.end);
  }
  if (!out.empty()) return out;
  // Without a finished output, the best are those with the most required tokens.
  std::vector<Open> open = open_;
  std::ranges::stable_sort(open, std::ranges::greater(), &Open::bank);
  for (const Open& o : open) {
    if (out.size() >= nbest_) break;
    const double penalty = length_penalty(length_ - 1, alpha_);
    out.push_back({tree_->path(o.leaf), o.log_p, o.log_p / penalty, false, tree_->log_ps(o.leaf)});
  }
  return out;
}

DiverseBeam::DiverseBeam(const SearchOptions& options, std::span<const int> forbidden,
                         int64_t longest)
    : nbest_(size_t(options.nbest)),
      diversity_(options.diversity),
      alternatives_(options.alternatives > 0),
      together_(alternatives_) {
  TX_ASSERT(options.groups >= 1 && options.beam % options.groups == 0);
  for (int g = 0; g < options.groups; ++g)
    groups_.emplace_back(options, forbidden, longest, options.groups, tree_);
  first_row_.assign(groups_.size(), 0);
  rows_.push_back({-1, Vocabulary::bos});  // the first row of all groups
}

void DiverseBeam::advance(const Scores& scores) {
  TX_ASSERT(!done() && scores.ids);
  constexpr double never = 1e9;
  std::vector<int32_t> taken;
  for (size_t g = 0; g < groups_.size(); ++g) {
    Beam& group = groups_[g];
    if (group.done()) continue;
    const size_t at = first_row_[g] * size_t(scores.width);
    if (alternatives_ && !together_) taken.clear();
    group.keep_one(together_);
    group.avoid(taken, alternatives_ ? never : diversity_);
    group.advance({scores.log_p + at, scores.ids + at, scores.width});
    for (const Row& row : group.rows()) taken.push_back(row.token);
    if (together_ && group.done()) taken.push_back(Vocabulary::eos);
  }
  together_ = together_ && !taken.empty() &&
              std::ranges::count(taken, taken.front()) == ptrdiff_t(taken.size());
  gather_rows();
}

// Row::parent of a group is an index in its own rows of the previous step, from first_row_ on.
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
    std::vector<TokenHypothesis> best = group.results();
    if (alternatives_) best.resize(1);
    for (TokenHypothesis& h : best)
      if (std::ranges::none_of(out, [&](const auto& other) { return other.ids == h.ids; }))
        out.push_back(std::move(h));
  }
  std::ranges::stable_sort(out, [](const auto& a, const auto& b) {
    return a.complete != b.complete ? a.complete : a.score > b.score;
  });
  // Incomplete outputs are used only if no output is complete.
  const bool ended = out.front().complete && !alternatives_;
  std::erase_if(out, [&](const auto& h) { return ended && !h.complete; });
  out.resize(std::min(out.size(), nbest_));
  return out;
}

}  // namespace tx
