#include "lib/eval/bleu.h"

#include <cmath>
#include <cstdlib>

#include "lib/eval/report.h"

namespace tx {
namespace {

// Stands for log(0) in sacreBLEU: finite, so that a mean with it is defined, and exp() of it is 0.
constexpr double log_of_zero = -9999999999.0;

// Names for the places in the statistics.
struct Sums {
  explicit Sums(std::span<const double> sums)
      : hypothesis(sums[0]),
        reference(sums[1]),
        matched(sums.subspan(2, Bleu::max_order)),
        total(sums.subspan(2 + Bleu::max_order, Bleu::max_order)) {}
  double hypothesis, reference;
  std::span<const double> matched, total;
};

double brevity_penalty(const Sums& sums) {
  if (sums.hypothesis >= sums.reference) return 1;
  return sums.hypothesis > 0 ? std::exp(1 - sums.reference / sums.hypothesis) : 0;
}

// In percent. Orders that no hypothesis is long enough for keep 0.
std::vector<double> precisions(const Sums& sums) {
  std::vector<double> percent(Bleu::max_order, 0.0);
  bool any = false;
  for (const double matched : sums.matched) any = any || matched > 0;
  double smoothing = 1;
  for (size_t n = 0; any && n < percent.size() && sums.total[n] > 0; ++n) {
    if (sums.matched[n] > 0) {
      percent[n] = 100.0 * sums.matched[n] / sums.total[n];
    } else {
      smoothing *= 2;
      percent[n] = 100.0 / (smoothing * sums.total[n]);
    }
  }
  return percent;
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value > 0 ? std::log(value) : log_of_zero;
  return std::exp(sum / double(values.size()));
}

}  // namespace

Bleu::Bleu(const BleuOptions& options) : tokenizer_(make_tokenizer(options.tokenizer)) {
  if (options.lowercase) lowercaser_ = std::make_unique<Lowercaser>();
}

void Bleu::tokenize(std::string_view line, Side& side) {
  line = strip_right(line);
  if (lowercaser_) {
    lowercaser_->apply(line, lowered_);
    line = lowered_;
  }
  tokenizer_->apply(line, side.text);
  split(side.text, side.tokens);
}

void Bleu::add(std::string_view hypothesis, std::span<const std::string> references,
               std::span<double> sums) {
  tokenize(hypothesis, hypothesis_);
  matcher_.begin(hypothesis_.tokens);
  const auto length = int64_t(hypothesis_.tokens.size());
  int64_t closest = -1;
  for (const std::string& reference : references) {
    tokenize(reference, reference_);
    matcher_.add_reference(reference_.tokens);
    const auto candidate = int64_t(reference_.tokens.size());
    const int64_t gain = std::abs(length - closest) - std::abs(length - candidate);
    if (closest < 0 || gain > 0 || (gain == 0 && candidate < closest)) closest = candidate;
  }
  const NgramCounts& counts = matcher_.finish();
  sums[0] += double(length);
  sums[1] += double(closest);
  for (size_t n = 0; n < max_order; ++n) {
    sums[2 + n] += double(counts.matched[n]);
    sums[2 + max_order + n] += double(counts.total[n]);
  }
}

Score Bleu::score(std::span<const double> statistics, int references) const {
  const Sums sums(statistics);
  const double penalty = brevity_penalty(sums);
  const std::vector<double> percent = precisions(sums);
  const double ratio = sums.reference > 0 ? sums.hypothesis / sums.reference : 0;

  Score score;
  score.name = "BLEU";
  score.signature =
      "nrefs:" + std::to_string(references) + "|case:" + (lowercaser_ ? "lc" : "mixed") +
      "|eff:no|tok:" + tokenizer_->name() + "|smooth:exp|version:" + sacrebleu_version;
  score.value = penalty * geometric_mean(percent);
  for (const double p : percent) score.details += (score.details.empty() ? "" : "/") + fixed(p, 1);
  score.details += " (BP = " + fixed(penalty, 3) + " ratio = " + fixed(ratio, 3) +
                   " hyp_len = " + fixed(sums.hypothesis, 0) +
                   " ref_len = " + fixed(sums.reference, 0) + ")";
  for (size_t n = 0; n < max_order; ++n) {
    score.statistics["matched"].push_back(int64_t(sums.matched[n]));
    score.statistics["total"].push_back(int64_t(sums.total[n]));
  }
  score.statistics["precisions"] = percent;
  score.statistics["brevity_penalty"] = penalty;
  score.statistics["ratio"] = ratio;
  score.statistics["hypothesis_length"] = int64_t(sums.hypothesis);
  score.statistics["reference_length"] = int64_t(sums.reference);
  return score;
}

}  // namespace tx
