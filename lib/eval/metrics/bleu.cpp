#include "lib/eval/metrics/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "lib/base/error.h"
#include "lib/eval/report/report.h"

namespace tx {
namespace {

// Stands for log(0) in sacreBLEU: finite, so that a mean with it is defined, and exp() of it is 0.
constexpr double log_of_zero = -9999999999.0;

using Kind = BleuSmoothing;
struct Smoothing {
  const char* name;
  Kind kind;
  std::optional<double> value;  // the default, where it takes one
};
constexpr Smoothing smoothings[] = {{"exp", Kind::exp, {}},
                                    {"floor", Kind::floor, 0.1},
                                    {"add-k", Kind::add_k, 1.0},
                                    {"none", Kind::none, {}}};

const Smoothing& find_smoothing(const std::string& name) {
  for (const Smoothing& smoothing : smoothings) {
    if (name == smoothing.name) return smoothing;
  }
  throw UsageError("no smoothing is called \"" + name + "\"; choose exp, floor, add-k or none");
}

// Names for the places in the statistics.
template <class T>
struct Sums {
  Sums(std::span<const T> sums, size_t orders)
      : hypothesis(sums[0]),
        reference(sums[1]),
        matched(sums.subspan(2, orders)),
        total(sums.subspan(2 + orders, orders)) {}
  double hypothesis, reference;
  std::span<const T> matched, total;
};

double brevity_penalty(double hypothesis, double reference) {
  if (hypothesis >= reference) return 1;
  return hypothesis > 0 ? std::exp(1 - reference / hypothesis) : 0;
}

}  // namespace

std::vector<std::string> smoothing_names() {
  std::vector<std::string> names;
  for (const Smoothing& smoothing : smoothings) names.push_back(smoothing.name);
  return names;
}

Bleu::Bleu(const BleuOptions& options)
    : options_(options), max_order_(size_t(options.max_order)), matcher_(options.max_order) {
  const Smoothing& smoothing = find_smoothing(options.smoothing);
  smoothing_ = smoothing.kind;
  TX_ASSERT(options.max_order >= 1 && max_order_ <= most_orders);
  if (options.smoothing_value && !smoothing.value) {
    throw UsageError("smoothing " + options.smoothing + " takes no value; floor and add-k do");
  }
  if (smoothing.value) smoothing_value_ = options.smoothing_value.value_or(*smoothing.value);
  if (options.sums_only) return;
  tokenizer_ = make_tokenizer(options.tokenizer, options.model);
  options_.tokenizer = tokenizer_->name();
  if (options.lowercase) lowercaser_ = std::make_unique<Lowercaser>();
}

std::string Bleu::settings() const {
  std::string smoothing = options_.smoothing;
  if (find_smoothing(smoothing).value) smoothing += "[" + fixed(smoothing_value_, 2) + "]";
  return std::string("case:") + (options_.lowercase ? "lc" : "mixed") +
         "|eff:" + (options_.effective_order ? "yes" : "no") + "|tok:" + options_.tokenizer +
         "|smooth:" + smoothing;
}

std::vector<std::string> Bleu::columns() const {
  std::vector<std::string> names = {"hypothesis_length", "reference_length"};
  for (const char* kind : {"matched_", "total_"}) {
    for (size_t n = 1; n <= max_order_; ++n) names.push_back(kind + std::to_string(n));
  }
  return names;
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
  for (size_t n = 0; n < max_order_; ++n) {
    sums[2 + n] += double(counts.matched[n]);
    sums[2 + max_order_ + n] += double(counts.total[n]);
  }
}

// In percent, of every order; orders that no hypothesis is long enough for keep 0. Returns the
// number of orders in the mean.
template <class T>
size_t Bleu::precisions(std::span<const T> statistics, std::span<T> percent) const {
  const Sums<T> sums(statistics, max_order_);
  std::fill(percent.begin(), percent.end(), T(0));
  size_t orders = max_order_;
  const bool any = std::any_of(sums.matched.begin(), sums.matched.end(), [](T m) { return m > 0; });
  double halved = 1;
  for (size_t n = 0; any && n < max_order_; ++n) {
    const bool add = smoothing_ == Kind::add_k && n > 0;
    const T matched = add ? sums.matched[n] + T(smoothing_value_) : sums.matched[n];
    const T total = add ? sums.total[n] + T(smoothing_value_) : sums.total[n];
    if (total == 0) break;
    if (options_.effective_order) orders = n + 1;
    if (matched > 0) {
      percent[n] = T(100) * matched / total;
    } else if (smoothing_ == Kind::exp) {
      halved *= 2;
      percent[n] = T(100) / (T(halved) * total);
    } else if (smoothing_ == Kind::floor) {
      percent[n] = T(100 * smoothing_value_) / total;
    }
  }
  return orders;
}

template <class T>
double Bleu::compute(std::span<const T> statistics) const {
  const Sums<T> sums(statistics, max_order_);
  if (std::none_of(sums.matched.begin(), sums.matched.end(), [](T m) { return m > 0; })) return 0;
  T percent[most_orders];
  const size_t orders = precisions(statistics, std::span(percent).first(max_order_));
  double logarithms = 0;
  for (size_t n = 0; n < orders; ++n) {
    logarithms += percent[n] > 0 ? std::log(double(percent[n])) : log_of_zero;
  }
  return brevity_penalty(sums.hypothesis, sums.reference) * std::exp(logarithms / double(orders));
}

double Bleu::value(std::span<const double> sums) const { return compute(sums); }
double Bleu::value(std::span<const float> sums) const { return compute(sums); }

Score Bleu::score(std::span<const double> statistics) const {
  const Sums<double> sums(statistics, max_order_);
  const double penalty = brevity_penalty(sums.hypothesis, sums.reference);
  const double ratio = sums.reference > 0 ? sums.hypothesis / sums.reference : 0;
  std::vector<double> percent(max_order_);
  precisions<double>(statistics, percent);

  Score score;
  score.name = name();
  score.value = value(statistics);
  for (const double p : percent) score.details += (score.details.empty() ? "" : "/") + fixed(p, 1);
  score.details += " (BP = " + fixed(penalty, 3) + " ratio = " + fixed(ratio, 3) +
                   " hyp_len = " + fixed(sums.hypothesis, 0) +
                   " ref_len = " + fixed(sums.reference, 0) + ")";
  for (size_t n = 0; n < max_order_; ++n) {
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
