// chrF (Popović, WMT 2015) and chrF++ (2017), equal to sacreBLEU 2.6 in every printed digit: the
// F score of character n-grams (orders 1..6, without white space) and of word n-grams (chrF++:
// orders 1 and 2),
//   F = (1 + b^2) P R / (b^2 P + R),  b = 2,
// where P and R are means over the orders that both sides have (effective order). With several
// references each segment uses the one with the best F.
#include <string_view>

#include "lib/base/utf8.h"
#include "lib/eval/matching/ngrams.h"
#include "lib/eval/metric.h"
#include "lib/eval/tokenizers/unicode.h"

namespace tx {
namespace {

struct ChrfOptions : MetricOptionsBase {
  int char_order = 6;
  int word_order = 0;  // 2: chrF++
  int beta = 2;
  bool lowercase = false;
  bool space = false;          // white space counts as characters
  bool eps_smoothing = false;  // the mean of the F of each order, as in chrF++.py

  void describe(Options& options);
  static std::vector<StoredKey> stored() {
    return {{"char_order", "chrf-char-order"},
            {"word_order", "chrf-word-order"},
            {"beta", "chrf-beta"},
            {"lowercase", "chrf-lowercase"},
            {"space", "chrf-whitespace"},
            {"eps_smoothing", "chrf-eps-smoothing"}};
  }
};

void ChrfOptions::describe(Options& options) {
  options.add("--chrf-char-order", char_order, "N", "maximum character n-gram order")
      .range(1, 100)
      .alias("-cc");
  options.add("--chrf-word-order", word_order, "N", "maximum word n-gram order; 2 is chrF++")
      .range(0, 100)
      .alias("-cw")
      .needs({{"--metric", "chrf"}}, "chrf++ has word order 2; use chrf for another");
  options.add("--chrf-beta", beta, "N", "weight of recall relative to precision").range(0, 1000);
  options.flag("--chrf-whitespace", space, "count white space as characters");
  options.flag("--chrf-lowercase", lowercase, "ignore case");
  options.flag("--chrf-eps-smoothing", eps_smoothing,
               "average F over all orders, as in chrF++.py, NLTK and Moses");
}

// Replaces an undefined precision or recall.
constexpr double epsilon = 1e-16;

bool ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

class Chrf : public MetricOf<Chrf, ChrfOptions> {
 public:
  explicit Chrf(const ChrfOptions& options);
  std::string name() const override;
  std::string settings() const override;
  // For each order, characters first: n-grams of the hypotheses, of the references, matched.
  std::vector<std::string> columns() const override;
  void add(std::string_view hypothesis, std::span<const std::string> references,
           std::span<double> sums) override;
  template <class T>
  T compute(std::span<const T> sums) const;

 private:
  // One side of a segment: characters and words as numbers.
  struct Side {
    std::string text;  // lowercased if options say so
    std::vector<int32_t> characters, words;
  };
  void read(std::string_view line, Side& side);
  void read_words(std::string_view text, std::vector<int32_t>& words);
  void compare(const Side& hypothesis, const Side& reference, std::span<double> row);
  void explain(std::span<const double> sums, Score& score) const override;

  std::unique_ptr<Lowercaser> lowercaser_;  // null: mixed case
  Interner<uint64_t> characters_;
  Interner<std::string_view> words_;
  GramCounter counter_;
  Side hypothesis_;
  std::vector<Side> references_;
  Tokens tokens_;
  Statistics row_, best_;
};

Chrf::Chrf(const ChrfOptions& options) : MetricOf(options) {
  if (options.metric == "chrf++") options_.word_order = 2;
  if (options.lowercase) lowercaser_ = std::make_unique<Lowercaser>();
  row_.resize(size());
  best_.resize(size());
}

std::string Chrf::name() const {
  return "chrF" + std::to_string(options_.beta) + std::string(size_t(options_.word_order), '+');
}

std::string Chrf::settings() const {
  return std::string("case:") + (options_.lowercase ? "lc" : "mixed") +
         "|eff:" + (options_.eps_smoothing ? "no" : "yes") +
         "|nc:" + std::to_string(options_.char_order) +
         "|nw:" + std::to_string(options_.word_order) + "|space:" + (options_.space ? "yes" : "no");
}

std::vector<std::string> Chrf::columns() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& unit, int order) {
    for (const char* kind : {"hypothesis_", "reference_", "matched_"})
      names.push_back(kind + unit + std::to_string(order));
  };
  for (int n = 1; n <= options_.char_order; ++n) add("char_", n);
  for (int n = 1; n <= options_.word_order; ++n) add("word_", n);
  return names;
}

// Punctuation at a word's end, or else beginning, is a separate word: "(so)" is "(so" and ")".
void Chrf::read_words(std::string_view text, std::vector<int32_t>& words) {
  words.clear();
  split(text, tokens_);
  for (const std::string_view token : tokens_) {
    const size_t bytes = token.size();
    const bool splits = count_characters(token) > 1;
    size_t cut = 0;
    if (splits && ascii_punctuation(token.back()))
      cut = bytes - 1;
    else if (splits && ascii_punctuation(token.front()))
      cut = 1;
    if (cut > 0) words.push_back(words_.insert(token.substr(0, cut)));
    words.push_back(words_.insert(token.substr(cut)));
  }
}

void Chrf::read(std::string_view line, Side& side) {
  if (lowercaser_)
    lowercaser_->apply(line, side.text);
  else
    side.text = line;
  const std::string_view text = side.text;
  side.characters.clear();
  for (size_t i = 0; i < text.size();) {
    const size_t space = options_.space ? 0 : white_space(text, i);
    if (space > 0)
      i += space;
    else
      side.characters.push_back(characters_.insert(next_code_point(text, i)));
  }
  if (options_.word_order > 0) read_words(text, side.words);
}

void Chrf::compare(const Side& hypothesis, const Side& reference, std::span<double> row) {
  const auto compare_units = [&](const std::vector<int32_t>& h, const std::vector<int32_t>& r,
                                 std::span<double> part) {
    std::vector<int64_t> matches(part.size() / 3);
    counter_.count(h, r, matches);
    for (size_t order = 0; order < matches.size(); ++order) {
      const size_t in_reference = r.size() > order ? r.size() - order : 0;
      const size_t in_hypothesis = h.size() > order ? h.size() - order : 0;
      // If a reference has no n-grams of this order, those of the hypothesis are ignored.
      part[3 * order] = in_reference > 0 ? double(in_hypothesis) : 0;
      part[3 * order + 1] = double(in_reference);
      part[3 * order + 2] = double(matches[order]);
    }
  };
  const size_t of_characters = 3 * size_t(options_.char_order);
  compare_units(hypothesis.characters, reference.characters, row.subspan(0, of_characters));
  compare_units(hypothesis.words, reference.words, row.subspan(of_characters));
}

void Chrf::add(std::string_view hypothesis, std::span<const std::string> references,
               std::span<double> sums) {
  characters_.clear();
  words_.clear();
  // Words are views into the texts of all sides, which must all stay alive.
  if (references_.size() < references.size()) references_.resize(references.size());
  read(hypothesis, hypothesis_);
  for (size_t i = 0; i < references.size(); ++i) read(references[i], references_[i]);
  double best = -1;
  for (size_t i = 0; i < references.size(); ++i) {
    compare(hypothesis_, references_[i], row_);
    const double now = references.size() > 1 ? compute<double>(row_) : 0;
    if (now > best) {
      best = now;
      std::swap(best_, row_);
    }
  }
  for (size_t k = 0; k < best_.size(); ++k) sums[k] += best_[k];
}

template <class T>
T Chrf::compute(std::span<const T> sums) const {
  const T factor = T(options_.beta) * T(options_.beta);
  const int orders = options_.char_order + options_.word_order;
  T total = 0, precision = 0, recall = 0;
  int effective = 0;
  for (int i = 0; i < orders; ++i) {
    const T hypothesis = sums[3 * i], reference = sums[3 * i + 1], matched = sums[3 * i + 2];
    const T p = hypothesis > 0 ? matched / hypothesis : T(epsilon);
    const T r = reference > 0 ? matched / reference : T(epsilon);
    const T below = factor * p + r;
    total += below > 0 ? (1 + factor) * p * r / below : T(epsilon);
    if (hypothesis > 0 && reference > 0) {
      precision += p;
      recall += r;
      ++effective;
    }
  }
  if (options_.eps_smoothing) return T(100) * total / T(orders);
  if (effective > 0) {
    precision /= T(effective);
    recall /= T(effective);
  }
  if (!(precision + recall > 0)) return 0;
  const T above = (1 + factor) * precision * recall;
  return T(100) * (above / (factor * precision + recall));
}

void Chrf::explain(std::span<const double> sums, Score& score) const {
  const std::vector<std::string> names = columns();
  for (size_t k = 0; k < names.size(); ++k) score.statistics[names[k]] = int64_t(sums[k]);
}

}  // namespace

std::unique_ptr<MetricKind> chrf_metric() {
  return metric_kind<Chrf>({.names = {"chrf", "chrf++"},
                            .heading = "chrF",
                            .subject = "",
                            .note = "chrf++ is chrf with a word order of 2"});
}

}  // namespace tx
