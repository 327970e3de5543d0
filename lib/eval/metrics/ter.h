// TER (Snover et al., AMTA 2006): the edits that turn a hypothesis into its reference, per word of
// the reference,
//   TER = 100 edits / reference words
// where an edit inserts, deletes or replaces a word or moves a phrase. Of several references the
// nearest gives the edits, the mean length of all gives the words. Lower is better. Equal to
// sacreBLEU 2.6 in every printed digit, that is tercom's search (lib/eval/metrics/shifts.h).
#pragma once
#include <vector>

#include "lib/eval/metrics/interner.h"
#include "lib/eval/metrics/metric.h"
#include "lib/eval/metrics/shifts.h"
#include "lib/eval/tokenizers/tercom.h"

namespace tx {

class Ter : public Metric {
 public:
  explicit Ter(const TercomOptions& options);
  std::string name() const override { return "TER"; }
  std::string settings() const override;
  // edits, reference words (a mean over the references, so it may have a fraction)
  std::vector<std::string> columns() const override { return {"edits", "reference_length"}; }
  void add(std::string_view hypothesis, std::span<const std::string> references,
           std::span<double> sums) override;
  Score score(std::span<const double> sums) const override;
  double value(std::span<const double> sums) const override;
  double value(std::span<const float> sums) const override;
  bool single_precision() const override { return true; }

 private:
  struct Side {
    std::string text;
    std::vector<int32_t> words;
  };
  void tokenize(std::string_view line, Side& side);
  void number_words(Side& side);

  TercomOptions options_;
  TercomTokenizer tokenizer_;
  Interner<std::string_view> words_;
  ShiftSearch search_;
  Side hypothesis_;
  std::vector<Side> references_;
  Tokens tokens_;  // of the text tokenised last
  std::string joined_;
};

}  // namespace tx
