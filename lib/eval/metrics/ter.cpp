#include "lib/eval/metrics/ter.h"

#include <algorithm>
#include <limits>

namespace tx {
namespace {

template <class T>
T ter(std::span<const T> sums) {
  const T edits = sums[0], words = sums[1];
  if (words > 0) return T(100) * (edits / words);
  return edits > 0 ? T(100) : T(0);  // nothing but empty references
}

}  // namespace

Ter::Ter(const TercomOptions& options) : options_(options), tokenizer_(options) {}

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
  // Words are views into the texts of all sides, which therefore live side by side.
  if (references_.size() < references.size()) references_.resize(references.size());
  tokenize(hypothesis, hypothesis_);
  number_words(hypothesis_);
  int64_t least = std::numeric_limits<int64_t>::max(), words = 0;
  for (size_t i = 0; i < references.size(); ++i) {
    tokenize(references[i], references_[i]);
    // sacreBLEU tokenises a reference twice, which shows: "&amp;lt;" becomes "&lt;", then "<".
    if (options_.normalize || options_.no_punctuation) {
      joined_.clear();
      for (const std::string_view token : tokens_) joined_.append(token).push_back(' ');
      tokenize(joined_, references_[i]);
    }
    number_words(references_[i]);
    least = std::min(least, search_.edits(hypothesis_.words, references_[i].words));
    words += int64_t(references_[i].words.size());
  }
  sums[0] += double(least);
  sums[1] += double(words) / double(references.size());
}

double Ter::value(std::span<const double> sums) const { return ter(sums); }
double Ter::value(std::span<const float> sums) const { return double(ter(sums)); }

Score Ter::score(std::span<const double> sums) const {
  Score score;
  score.name = name();
  score.value = value(sums);
  score.statistics["edits"] = int64_t(sums[0]);
  score.statistics["reference_length"] = sums[1];
  return score;
}

}  // namespace tx
