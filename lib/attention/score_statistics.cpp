#include "lib/attention/score_statistics.h"

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/base/figure.h"

namespace tx {

ScoreStatistics::ScoreStatistics(const Selection& selection) {
  for (const Selection::Kind& chosen : selection.kinds)
    for (const int layer : chosen.layers)
      for (const int head : selection.heads) sums_.push_back({chosen.kind, layer, head});
}

void ScoreStatistics::add(const AttentionRecord& record) {
  if (record.parts.empty()) return;
  ++lines_;
  const auto& scores = record.of(Quantity::scores);
  const auto& scaled = record.of(Quantity::scaled);
  const auto& masked = record.of(Quantity::masked);
  auto sums = sums_.begin();
  for (size_t kind = 0; kind < scores.size(); ++kind)
    for (size_t layer = 0; layer < scores[kind].size(); ++layer)
      for (size_t head = 0; head < scores[kind][layer].size(); ++head, ++sums) {
        const std::vector<float>& raw = scores[kind][layer][head].values;
        for (size_t i = 0; i < raw.size(); ++i) {
          if (std::isinf(masked[kind][layer][head].values[i])) continue;
          const double x = raw[i], y = scaled[kind][layer][head].values[i];
          ++sums->count;
          sums->scores += x;
          sums->squares += x * x;
          sums->scaled += y;
          sums->scaled_squares += y * y;
        }
      }
  TX_ASSERT(sums == sums_.end());
}

void ScoreStatistics::add(const ScoreStatistics& other) {
  TX_ASSERT(sums_.size() == other.sums_.size());
  lines_ += other.lines_;
  for (size_t i = 0; i < sums_.size(); ++i) {
    const Sums& from = other.sums_[i];
    sums_[i].count += from.count;
    sums_[i].scores += from.scores;
    sums_[i].squares += from.squares;
    sums_[i].scaled += from.scaled;
    sums_[i].scaled_squares += from.scaled_squares;
  }
}

std::vector<HeadScores> ScoreStatistics::heads() const {
  std::vector<HeadScores> out;
  for (const Sums& s : sums_) {
    const double n = double(std::max<int64_t>(1, s.count));
    const auto variance = [n](double sum, double squares) {
      return std::max(0.0, squares / n - (sum / n) * (sum / n));
    };
    out.push_back({s.kind, s.layer, s.head, s.count, s.scores / n, variance(s.scores, s.squares),
                   variance(s.scaled, s.scaled_squares)});
  }
  return out;
}

std::string scores_as_tsv(const ScoreStatistics& statistics, int digits) {
  std::string out = "kind\tlayer\thead\tscores\tmean\tvariance\tscaled_variance\n";
  for (const HeadScores& h : statistics.heads()) {
    out += std::string(name_of(h.kind)) + "\t" + std::to_string(h.layer) + "\t" +
           std::to_string(h.head) + "\t" + std::to_string(h.scores);
    for (const double x : {h.mean, h.variance, h.scaled_variance}) out += "\t" + figure(x, digits);
    out += "\n";
  }
  return out;
}

Json scores_as_json(const ScoreStatistics& statistics) {
  Json heads = Json::array();
  for (const HeadScores& h : statistics.heads())
    heads.push_back(Json{{"kind", name_of(h.kind)},
                         {"layer", h.layer},
                         {"head", h.head},
                         {"scores", h.scores},
                         {"mean", h.mean},
                         {"variance", h.variance},
                         {"scaled_variance", h.scaled_variance}});
  return {{"lines", statistics.lines()}, {"heads", heads}};
}

}  // namespace tx
