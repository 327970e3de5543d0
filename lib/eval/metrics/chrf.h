// chrF (Popović, WMT 2015) and chrF++ (2017), equal to sacreBLEU 2.6 in every printed digit: the
// F score of character n-grams (orders 1..6, white space left out) and of word n-grams (chrF++:
// orders 1 and 2),
//   F = (1 + b^2) P R / (b^2 P + R),  b = 2,
// where P and R are means over the orders that both sides have (effective order). Of several
// references each segment takes the one with the best F.
#pragma once
#include <memory>
#include <string>

#include "lib/eval/metrics/gram_counter.h"
#include "lib/eval/metrics/interner.h"
#include "lib/eval/metrics/metric.h"
#include "lib/eval/tokenizers/unicode.h"

namespace tx {

struct ChrfOptions {
  int char_order = 6;
  int word_order = 0;  // 2: chrF++
  int beta = 2;
  bool lowercase = false;
  bool space = false;          // white space counts as characters
  bool eps_smoothing = false;  // the mean of each order's F, as chrF++.py has it
};

class Chrf : public Metric {
 public:
  explicit Chrf(const ChrfOptions& options);
  std::string name() const override;
  std::string settings() const override;
  // Of each order, characters first: n-grams of the hypotheses, of the references, matched.
  std::vector<std::string> columns() const override;
  void add(std::string_view hypothesis, std::span<const std::string> references,
           std::span<double> sums) override;
  Score score(std::span<const double> sums) const override;
  double value(std::span<const double> sums) const override;
  double value(std::span<const float> sums) const override;
  bool single_precision() const override { return true; }

 private:
  // One side of a segment: each character and word as a number.
  struct Side {
    std::string text;  // lowercased, where asked for
    std::vector<int32_t> characters, words;
  };
  void read(std::string_view line, Side& side);
  void read_words(std::string_view text, std::vector<int32_t>& words);
  void compare(const Side& hypothesis, const Side& reference, std::span<double> row);
  template <class T>
  T compute(std::span<const T> sums) const;

  ChrfOptions options_;
  std::unique_ptr<Lowercaser> lowercaser_;  // null: mixed case
  Interner<uint64_t> characters_;
  Interner<std::string_view> words_;
  GramCounter counter_;
  Side hypothesis_;
  std::vector<Side> references_;
  Tokens tokens_;
  Statistics row_, best_;
};

}  // namespace tx
