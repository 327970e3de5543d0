#include "lib/search/lines/minimum_risk.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "lib/base/error.h"
#include "lib/base/pool.h"
#include "lib/checkpoint/model_file.h"
#include "lib/eval/metrics.h"

namespace tx {
namespace {

double score(Metric& metric, const std::string& hypothesis, const std::string& reference) {
  std::vector<double> sums(metric.size());
  metric.add(hypothesis, std::span(&reference, 1), sums);
  return metric.value(std::span<const double>(sums));
}

// Metrics have internal buffers: one per concurrent caller.
class Ranker {
 public:
  Ranker(const std::string& name, size_t printed, const Vocabulary& vocabulary)
      : metrics_([name] {
          auto metric = make_metric(name);
          metric->score_segments();
          return metric;
        }),
        printed_(printed),
        vocabulary_(vocabulary) {}

  void rank(Translation& outputs) {
    std::vector<std::string> texts;
    for (const TokenHypothesis& h : outputs) texts.push_back(vocabulary_.decode(h.ids));
    const std::vector<double> utility = utilities(texts, *metrics_.lend());
    std::vector<size_t> order(outputs.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t i) { return utility[i]; });
    Translation ranked;
    std::vector<std::string_view> seen;
    for (const size_t i : order) {
      if (ranked.size() == printed_) break;
      if (std::ranges::count(seen, texts[i])) continue;
      seen.push_back(texts[i]);
      ranked.push_back(std::move(outputs[i]));
      ranked.back().score = utility[i];
    }
    outputs = std::move(ranked);
  }

 private:
  Pool<Metric> metrics_;
  size_t printed_;
  const Vocabulary& vocabulary_;
};

}  // namespace

std::vector<double> utilities(const std::vector<std::string>& texts, Metric& metric) {
  std::map<std::string, int> count;
  for (const std::string& text : texts) ++count[text];
  std::map<std::string, double> utility;
  for (const auto& [text, unused] : count) {
    double sum = -score(metric, text, text);  // not against itself
    for (const auto& [other, copies] : count) sum += copies * score(metric, text, other);
    utility[text] = texts.size() > 1 ? sum / double(texts.size() - 1) : 0;
  }
  std::vector<double> out;
  for (const std::string& text : texts) out.push_back(utility[text]);
  return out;
}

void MinimumRisk::describe(Options& options) {
  options.group("Minimum Bayes risk");
  options
      .add(
          "--mbr", metric_, "bleu|chrf", "minimum-Bayes-risk selection among samples",
          "Prints the sample with the highest mean sentence BLEU or chrF against the other samples "
          "(Eikema and Aziz, 2020); this mean, from 0 to 100, is its score. --nbest prints the N "
          "best.")
      .one_of({"bleu", "chrf"})
      .needs(of_kinds({ModelKind::encoder_decoder}))
      .needs({"--sample"})
      .excludes({"--check-invariance"});
  options.add("--samples", samples_, "N", "number of samples").range(2, 1000).needs({"--mbr"});
}

void MinimumRisk::resolve(SearchOptions& search) {
  if (metric_.empty()) return;
  printed_ = search.nbest;
  if (printed_ > samples_)
    throw UsageError("--nbest " + std::to_string(printed_) +
                     " needs at least as many --samples: give --samples " +
                     std::to_string(printed_));
  search.nbest = samples_;
}

std::function<void(Translation&)> MinimumRisk::rank(const Translator& translator) const {
  if (metric_.empty()) return {};
  const auto ranker =
      std::make_shared<Ranker>(metric_, size_t(printed_), translator.models().target());
  return [ranker](Translation& outputs) { ranker->rank(outputs); };
}

}  // namespace tx
