// TER (Snover et al., AMTA 2006): the edits that turn a hypothesis into its reference, per word of
// the reference,
//   TER = 100 edits / reference words
// where an edit inserts, deletes or replaces a word or moves a phrase. With several references the
// nearest one determines the edits, and the mean length of all the words. Lower is better. Equal to
// sacreBLEU 2.6 in every printed digit, which uses the search of tercom
// (lib/eval/matching/edit_distance.h).
#include <algorithm>
#include <limits>

#include "lib/eval/matching/edit_distance.h"
#include "lib/eval/matching/ngrams.h"
#include "lib/eval/metric.h"
#include "lib/eval/tokenizers/western.h"

namespace tx {
namespace {

struct TerOptions : MetricOptionsBase {
  bool case_sensitive = false, normalize = false, no_punctuation = false, asian = false;

  void describe(Options& options) {
    options.flag("--ter-case-sensitive", case_sensitive, "compare case-sensitively");
    options.flag("--ter-normalized", normalize, "resolve entities and split off punctuation");
    options.flag("--ter-no-punct", no_punctuation, "remove punctuation");
    options.flag("--ter-asian-support", asian,
                 "extend --ter-normalized and --ter-no-punct to Chinese and Japanese");
  }
  static std::vector<StoredKey> stored() {
    return {{"case_sensitive", "ter-case-sensitive"},
            {"normalize", "ter-normalized"},
            {"no_punctuation", "ter-no-punct"},
            {"asian", "ter-asian-support"}};
  }
};

class Ter : public MetricOf<Ter, TerOptions> {
 public:
  explicit Ter(const TerOptions& options)
      : MetricOf(options),
        tokenizer_(options.case_sensitive, options.normalize, options.no_punctuation,
                   options.asian) {}
  std::string name() const override { return "TER"; }
  std::string settings() const override;
  bool lower_is_better() const override { return true; }
  // edits, reference words (a mean over the references, so it may have a fraction)
  std::vector<std::string> columns() const override { return {"edits", "reference_length"}; }
  void add(std::string_view hypothesis, std::span<const std::string> references,
           std::span<double> sums) override;
  template <class T>
  T compute(std::span<const T> sums) const {
    const T edits = sums[0], words = sums[1];
    if (words > 0) return T(100) * (edits / words);
    return edits > 0 ? T(100) : T(0);  // all references are empty
  }

 private:
  struct Side {
    std::string text;
    std::vector<int32_t> words;
  };
  void tokenize(std::string_view line, Side& side);
  void number_words(Side& side);
  void explain(std::span<const double> sums, Score& score) const override;

  TercomTokenizer tokenizer_;
  Interner<std::string_view> words_;
  ShiftSearch search_;
  Side hypothesis_;
  std::vector<Side> references_;
  Tokens tokens_;  // of the last text
  std::string joined_;
};

std::string Ter::settings() const {
  const auto word = [](bool yes) { return yes ? "yes" : "no"; };
  return std::string("case:") + (options_.case_sensitive ? "mixed" : "lc") +
         "|tok:tercom|norm:" + word(options_.normalize) +
         "|punct:" + word(!options_.no_punctuation) + "|asian:" + word(options_.asian);
}

void Ter::tokenize(std::string_view line, Side& side) {
  tokenizer_.apply(strip_right(line), side.text);
  split(side.text, tokens_);
}

void Ter::number_words(Side& side) {
  side.words.clear();
  for (const std::string_view token : tokens_) side.words.push_back(words_.insert(token));
}

void Ter::add(std::string_view hypothesis, std::span<const std::string> references,
              std::span<double> sums) {
  words_.clear();
  // Words are views into the texts of all sides, which must all stay alive.
  if (references_.size() < references.size()) references_.resize(references.size());
  tokenize(hypothesis, hypothesis_);
  number_words(hypothesis_);
  int64_t min = std::numeric_limits<int64_t>::max(), words = 0;
  for (size_t i = 0; i < references.size(); ++i) {
    tokenize(references[i], references_[i]);
    // Tokenizes references twice like sacreBLEU: "&amp;lt;" becomes "&lt;", then "<".
    if (options_.normalize || options_.no_punctuation) {
      joined_.clear();
      for (const std::string_view token : tokens_) joined_.append(token).push_back(' ');
      tokenize(joined_, references_[i]);
    }
    number_words(references_[i]);
    min = std::min(min, search_.edits(hypothesis_.words, references_[i].words));
    words += int64_t(references_[i].words.size());
  }
  sums[0] += double(min);
  sums[1] += double(words) / double(references.size());
}

void Ter::explain(std::span<const double> sums, Score& score) const {
  score.statistics["edits"] = int64_t(sums[0]);
  score.statistics["reference_length"] = sums[1];
}

}  // namespace

std::unique_ptr<MetricKind> ter_metric() {
  return metric_kind<Ter>({.names = {"ter"}, .heading = "TER", .subject = "", .note = ""});
}

}  // namespace tx
