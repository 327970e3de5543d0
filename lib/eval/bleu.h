// BLEU (Papineni et al., ACL 2002), equal to sacreBLEU 2.6 (Post, WMT 2018) in every printed digit:
//   BLEU = 100 BP exp(1/4 sum_n log p_n), n = 1..4
//   p_n  = matched n-grams / n-grams of the hypotheses, summed over the corpus
//   BP   = exp(1 - r/c) where c < r: c hypothesis tokens, r tokens of each segment's reference that
//          is closest in length (of two as close, the shorter)
// Smoothing "exp": the k-th order without a match gets 1 / (2^k total_n), the NIST script's way; a
// corpus without any match scores 0, so does one without any 4-gram in its hypotheses.
#pragma once
#include <memory>
#include <string>

#include "lib/eval/metric.h"
#include "lib/eval/ngrams.h"
#include "lib/eval/tokenizer.h"
#include "lib/eval/unicode.h"

namespace tx {

struct BleuOptions {
  std::string tokenizer = "13a";
  bool lowercase = false;
};

class Bleu : public Metric {
 public:
  static constexpr int max_order = 4;

  explicit Bleu(const BleuOptions& options);  // throws UsageError: no such tokenizer
  // hypothesis tokens, reference tokens, matched of order 1..4, total of order 1..4
  size_t size() const override { return 2 + 2 * max_order; }
  void add(std::string_view hypothesis, std::span<const std::string> references,
           std::span<double> sums) override;
  Score score(std::span<const double> sums, int references) const override;

 private:
  struct Side {
    std::string text;
    Tokens tokens;  // of text
  };
  void tokenize(std::string_view line, Side& side);

  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<Lowercaser> lowercaser_;  // null: mixed case
  NgramMatcher matcher_{max_order};
  Side hypothesis_, reference_;
  std::string lowered_;
};

}  // namespace tx
