// BLEU (Papineni et al., ACL 2002), equal to sacreBLEU 2.6 (Post, WMT 2018) in every printed digit:
//   BLEU = 100 BP exp(1/N sum_n log p_n), n = 1..N, N = 4
//   p_n  = matched n-grams / n-grams of the hypotheses, summed over the corpus
//   BP   = exp(1 - r/c) where c < r: c hypothesis tokens, r tokens of each segment's reference that
//          is closest in length (of two as close, the shorter)
// A corpus without any match scores 0. Smoothing (Chen and Cherry, WMT 2014):
//   exp    the k-th order without a match gets 1 / (2^k total_n), the NIST script's way
//   floor  an order without a match counts `smoothing_value` matches
//   add-k  `smoothing_value` is added to the matched and to all n-grams of the orders above 1
//   none   an order without a match makes the score 0
// With effective order the mean is only over the orders that a hypothesis is long enough for.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "lib/eval/metrics/metric.h"
#include "lib/eval/metrics/ngrams.h"
#include "lib/eval/tokenizers/tokenizer.h"
#include "lib/eval/tokenizers/unicode.h"

namespace tx {

struct BleuOptions {
  std::string tokenizer = "13a";
  bool lowercase = false;
  std::string model;  // of tokenizer spm: its file
  std::string smoothing = "exp";
  std::optional<double> smoothing_value;  // floor: 0.1, add-k: 1
  int max_order = 4;
  bool effective_order = false;
  // Only scores sums: the tokenizer is the name that stands in the signature, and nothing is read.
  bool sums_only = false;
};

enum class BleuSmoothing { exp, floor, add_k, none };
std::vector<std::string> smoothing_names();  // the default first

class Bleu : public Metric {
 public:
  explicit Bleu(const BleuOptions& options);  // throws UsageError: contradictory options
  std::string name() const override { return "BLEU"; }
  std::string settings() const override;
  // hypothesis tokens, reference tokens, matched of order 1..N, total of order 1..N
  std::vector<std::string> columns() const override;
  void add(std::string_view hypothesis, std::span<const std::string> references,
           std::span<double> sums) override;
  Score score(std::span<const double> sums) const override;
  double value(std::span<const double> sums) const override;
  double value(std::span<const float> sums) const override;
  bool single_precision() const override { return false; }

 private:
  struct Side {
    std::string text;
    Tokens tokens;  // of text
  };
  void tokenize(std::string_view line, Side& side);
  template <class T>
  size_t precisions(std::span<const T> sums, std::span<T> percent) const;
  template <class T>
  double compute(std::span<const T> sums) const;

  BleuOptions options_;
  std::unique_ptr<Tokenizer> tokenizer_;    // null: sums_only
  std::unique_ptr<Lowercaser> lowercaser_;  // null: mixed case
  static constexpr size_t most_orders = 100;
  size_t max_order_;  // at most most_orders
  BleuSmoothing smoothing_;
  double smoothing_value_ = 0;
  NgramMatcher matcher_;
  Side hypothesis_, reference_;
  std::string lowered_;
};

}  // namespace tx
