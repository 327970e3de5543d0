// BLEU (Papineni et al., ACL 2002), equal to sacreBLEU 2.6 (Post, WMT 2018) in every printed digit:
//   BLEU = 100 BP exp(1/N sum_n log p_n), n = 1..N, N = 4
//   p_n  = matched n-grams / n-grams of the hypotheses, summed over the corpus
//   BP   = exp(1 - r/c) if c < r, else 1: c is the number of hypothesis tokens; r adds up, for each
//          segment, the tokens of the reference closest in length (the shorter one of a tie)
// A corpus without any match scores 0. Smoothing (Chen and Cherry, WMT 2014):
//   exp    the k-th order without a match has precision 1 / (2^k total_n), as in the NIST script
//   floor  an order without a match has `smoothing_value` matches
//   add-k  adds `smoothing_value` to the matched and to all n-grams of orders above 1
//   none   an order without a match makes the score 0
// With effective order the mean is over the orders for which a hypothesis is long enough.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/eval/matching/ngrams.h"
#include "lib/eval/metrics.h"
#include "lib/eval/tokenizers/tokenizer.h"
#include "lib/eval/tokenizers/unicode.h"
#include "lib/eval/tokenizers/western.h"

namespace tx {
namespace {

constexpr size_t max_orders = 100;

// sacreBLEU's log(0): finite, so that a mean with it is defined, and its exp() is 0.
constexpr double log_of_zero = -9999999999.0;

enum class Kind { exp, floor, add_k, none };
struct Smoothing {
  const char* name;
  Kind kind;
  std::optional<double> value;  // the default, if it has a value
};
constexpr Smoothing smoothings[] = {{"exp", Kind::exp, {}},
                                    {"floor", Kind::floor, 0.1},
                                    {"add-k", Kind::add_k, 1.0},
                                    {"none", Kind::none, {}}};

const Smoothing& find_smoothing(const std::string& name) {
  for (const Smoothing& smoothing : smoothings)
    if (name == smoothing.name) return smoothing;
  throw UsageError("unknown smoothing \"" + name + "\"; choose exp, floor, add-k or none");
}

std::vector<std::string> smoothing_names() {
  std::vector<std::string> names;
  for (const Smoothing& smoothing : smoothings) names.push_back(smoothing.name);
  return names;
}

struct BleuOptions : MetricOptionsBase {
  std::string tokenizer = "13a";
  std::string model;  // of tokenizer spm: its file
  bool lowercase = false;
  bool split_compounds = false;
  std::string smoothing = "exp";
  std::optional<double> smoothing_value;  // floor: 0.1, add-k: 1
  int max_order = 4;
  bool effective_order = false;

  void describe(Options& options);
  static std::vector<StoredKey> stored() {
    return {{"tokenizer", "tokenize"},
            {"lowercase", "lowercase"},
            {"split_compounds", "split-compounds"},
            {"smoothing", "smooth"},
            {"smoothing_value", "smooth-value"},
            {"max_order", "max-order"},
            {"effective_order", "effective-order"}};
  }
};

void BleuOptions::describe(Options& options) {
  options
      .add("--tokenize", tokenizer, "NAME", "tokenizer",
           "13a: mteval-v13a, for raw text; intl: mteval-v14, for all scripts; zh: Chinese "
           "characters one by one, the rest as 13a; char: characters; none: split at white "
           "space, for tokenised text; spm: the SentencePiece model of -m (spBLEU); flores101, "
           "flores200, spBLEU-1K: as spm, named as sacreBLEU names the model. ja-mecab and "
           "ko-mecab are not available.")
      .one_of(tokenizer_names())
      .also(tokenizers_not_built_in())
      .alias("-tok,--tok");
  options
      .add("-m,--model", model, "FILE", "SentencePiece model for --tokenize spm",
           "FILE can also be a model or run directory of tx-train: its target vocabulary is used.")
      .input();
  options.flag("--lowercase", lowercase, "ignore case").alias("-lc");
  options.flag("--split-compounds", split_compounds,
               "split hyphenated words, as in the scores of Vaswani et al. (2017)",
               "After tokenisation A-B becomes A ##AT##-##AT## B; see SPLIT COMPOUNDS.");
  options
      .add("--smooth", smoothing, "NAME", "smoothing of n-gram orders without a match",
           "exp: 1/2^k matches for the k-th such order; floor: --smooth-value as "
           "matches; add-k: adds --smooth-value to matches and n-grams of orders above "
           "1; none: the score is 0.")
      .one_of(smoothing_names())
      .alias("--smooth-method,-s");
  options
      .add("--smooth-value", smoothing_value, "X",
           "smoothing value; the default is 0.1 with floor, 1 with add-k")
      .range(0, 1e9)
      .alias("-sv")
      .needs({{"--smooth", "floor"}, {"--smooth", "add-k"}});
  options.add("--max-order", max_order, "N", "maximum n-gram order").range(1, max_orders);
  options.flag("--effective-order", effective_order,
               "ignore orders longer than any hypothesis; --sentence implies it");
}

// Other tools use -m for the metric.
void check_model(const std::string& model) {
  if (names_metrics(model) && !file_exists(model))
    throw UsageError("-m " + model + ": there is no such model; did you mean --metric " + model +
                     "?");
}

// The layout of the statistics.
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

class Bleu : public MetricOf<Bleu, BleuOptions> {
 public:
  explicit Bleu(const BleuOptions& options);
  std::string name() const override { return "BLEU"; }
  std::string settings() const override;
  // hypothesis tokens, reference tokens, matched of order 1..N, total of order 1..N
  std::vector<std::string> columns() const override;
  bool tokenizes() const override {
    return options_.tokenizer == "13a" || options_.tokenizer == "intl";
  }
  void score_segments() override { options_.effective_order = true; }
  void add(std::string_view hypothesis, std::span<const std::string> references,
           std::span<double> sums) override;
  template <class T>
  double compute(std::span<const T> sums) const;
  std::string why_zero(std::span<const double> sums) const override;

 private:
  struct Side {
    std::string text;
    Tokens tokens;  // of text
  };
  void tokenize(std::string_view line, Side& side);
  template <class T>
  size_t precisions(std::span<const T> sums, std::span<T> percent) const;
  void explain(std::span<const double> sums, Score& score) const override;

  std::unique_ptr<Tokenizer> tokenizer_;    // null: sums_only
  std::unique_ptr<Lowercaser> lowercaser_;  // null: mixed case
  size_t max_order_;                        // at most max_orders
  Kind smoothing_;
  double smoothing_value_ = 0;
  NgramMatcher matcher_;
  Side hypothesis_, reference_;
  std::string lowered_, split_;
};

Bleu::Bleu(const BleuOptions& options)
    : MetricOf(options), max_order_(size_t(options.max_order)), matcher_(options.max_order) {
  check_model(options.model);
  const Smoothing& smoothing = find_smoothing(options.smoothing);
  smoothing_ = smoothing.kind;
  TX_ASSERT(options.max_order >= 1 && max_order_ <= max_orders);
  if (options.smoothing_value && !smoothing.value)
    throw UsageError("smoothing " + options.smoothing + " has no value; floor and add-k have one");
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
         (options_.split_compounds ? "|compounds:split" : "") + "|smooth:" + smoothing;
}

std::vector<std::string> Bleu::columns() const {
  std::vector<std::string> names = {"hypothesis_length", "reference_length"};
  for (const char* kind : {"matched_", "total_"})
    for (size_t n = 1; n <= max_order_; ++n) names.push_back(kind + std::to_string(n));
  return names;
}

void Bleu::tokenize(std::string_view line, Side& side) {
  line = strip_right(line);
  if (lowercaser_) {
    lowercaser_->apply(line, lowered_);
    line = lowered_;
  }
  tokenizer_->apply(line, side.text);
  if (options_.split_compounds) {
    split_compounds(side.text, split_);
    side.text.swap(split_);
  }
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

// Precisions in percent, 0 for orders longer than any hypothesis; returns the orders in the mean.
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
  T percent[max_orders];
  const size_t orders = precisions(statistics, std::span(percent).first(max_order_));
  double logarithms = 0;
  for (size_t n = 0; n < orders; ++n)
    logarithms += percent[n] > 0 ? std::log(double(percent[n])) : log_of_zero;
  return brevity_penalty(sums.hypothesis, sums.reference) * std::exp(logarithms / double(orders));
}

std::string Bleu::why_zero(std::span<const double> statistics) const {
  const Sums<double> sums(statistics, max_order_);
  if (sums.matched[0] == 0 || value(statistics) > 0) return "";
  for (size_t n = 1; n < max_order_; ++n) {
    const std::string gram = std::to_string(n + 1) + "-gram";
    if (sums.total[n] == 0)
      return "BLEU is 0 because the hypotheses have no " + gram +
             ": no line has so many words; --effective-order leaves out the orders that are "
             "missing";
    if (sums.matched[n] == 0)
      return "BLEU is 0 because the references have no " + gram +
             " of the hypotheses and there is no smoothing; leave out --smooth " +
             options_.smoothing;
  }
  return "";
}

void Bleu::explain(std::span<const double> statistics, Score& score) const {
  const Sums<double> sums(statistics, max_order_);
  const double penalty = brevity_penalty(sums.hypothesis, sums.reference);
  const double ratio = sums.reference > 0 ? sums.hypothesis / sums.reference : 0;
  std::vector<double> percent(max_order_);
  precisions<double>(statistics, percent);

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
}

}  // namespace

std::unique_ptr<MetricKind> bleu_metric() {
  return metric_kind<Bleu>({.names = {"bleu"}, .heading = "BLEU", .subject = "", .note = ""});
}

}  // namespace tx
