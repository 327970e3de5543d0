#include "lib/eval/metrics/brackets.h"

#include <algorithm>
#include <iterator>

#include "build_info.h"
#include "lib/base/error.h"
#include "lib/eval/report/report.h"

namespace tx {
namespace {

// Words so tagged and constituents so labelled.
constexpr std::string_view left_out[] = {"TOP", "ROOT", "S1", "-NONE-", ",", ":", "``", "''", "."};

bool is_left_out(std::string_view label) {
  return std::find(std::begin(left_out), std::end(left_out), label) != std::end(left_out);
}

// NP-SBJ and NP=2 are NP; -NONE- stays.
std::string_view plain(std::string_view label) {
  const size_t cut = label.find_first_of("-=");
  if (cut != std::string_view::npos && cut > 0) label = label.substr(0, cut);
  return label == "PRT" ? "ADVP" : label;
}

// Where the run of characters that are neither parenthesis nor white space ends.
size_t end_of_word(std::string_view line, size_t i) {
  while (i < line.size() && line[i] != '(' && line[i] != ')' && white_space(line, i) == 0) ++i;
  return i;
}

}  // namespace

void BracketReader::open(std::string_view label, Brackets& brackets) {
  if (complete_) brackets.error = "text after the end of the tree";
  if (!open_.empty()) {
    ++open_.back().children;
    open_.back().constituents = true;
  }
  open_.push_back({label, brackets.words});
}

void BracketReader::add_word(Brackets& brackets) {
  if (open_.empty()) {
    brackets.error = "a word outside the parentheses";
    return;
  }
  ++open_.back().children;
  ++brackets.words;
}

void BracketReader::close(std::string_view label, Brackets& brackets) {
  if (open_.empty()) {
    brackets.error = "one closing parenthesis too many";
    return;
  }
  const Open now = open_.back();
  open_.pop_back();
  complete_ = open_.empty();
  if (!label.empty() && label != now.label) {
    brackets.error =
        "\"(" + std::string(now.label) + "\" is closed by \")" + std::string(label) + "\"";
    return;
  }
  const bool tagged_word = label.empty() && now.children == 1 && !now.constituents;
  if (tagged_word && !now.label.empty()) {
    if (is_left_out(now.label)) --brackets.words;
    return;
  }
  const std::string_view name = plain(now.label);
  if (!name.empty() && !is_left_out(name) && now.begin < brackets.words) {
    brackets.spans.push_back({name, now.begin, brackets.words});
  }
}

void BracketReader::read(std::string_view line, Brackets& brackets) {
  brackets.spans.clear();
  brackets.words = 0;
  brackets.error.clear();
  open_.clear();
  complete_ = false;
  for (size_t i = 0; i < line.size() && brackets.error.empty();) {
    if (const size_t space = white_space(line, i); space > 0) {
      i += space;
      continue;
    }
    const bool parenthesis = line[i] == '(' || line[i] == ')';
    const size_t begin = parenthesis ? i + 1 : i, end = end_of_word(line, begin);
    const std::string_view word = line.substr(begin, end - begin);
    if (!parenthesis) {
      add_word(brackets);
    } else if (line[i] == '(') {
      open(word, brackets);
    } else {
      close(word, brackets);
    }
    i = end;
  }
  if (brackets.error.empty() && !open_.empty()) {
    brackets.error = "\"(" + std::string(open_.back().label) + "\" is not closed";
  }
  std::sort(brackets.spans.begin(), brackets.spans.end());
}

std::string BracketF1::settings() const {
  return std::string("labels:evalb|malformed:") + (options_.skip_malformed ? "skip" : "miss");
}

std::string BracketF1::version() const { return "tx-" TX_VERSION; }

std::vector<std::string> BracketF1::columns() const {
  return {"matched", "hypothesis", "reference", "complete", "segments", "malformed"};
}

void BracketF1::add(std::string_view hypothesis, std::span<const std::string> references,
                    std::span<double> sums) {
  if (references.size() != 1) throw UsageError("f1 compares with one reference, not with several");
  reader_.read(references[0], reference_);
  if (!reference_.error.empty()) {
    throw DataError("the reference is not a bracketed tree: " + reference_.error);
  }
  reader_.read(hypothesis, hypothesis_);
  const bool malformed = !hypothesis_.error.empty() || hypothesis_.words != reference_.words;
  if (malformed) {
    hypothesis_.spans.clear();
    ++sums[5];
    if (options_.skip_malformed) return;
  }
  if (!malformed && reference_.words == 0) return;
  std::vector<Brackets::Span> common;
  std::set_intersection(hypothesis_.spans.begin(), hypothesis_.spans.end(),
                        reference_.spans.begin(), reference_.spans.end(),
                        std::back_inserter(common));
  const size_t matched = common.size();
  sums[0] += double(matched);
  sums[1] += double(hypothesis_.spans.size());
  sums[2] += double(reference_.spans.size());
  const bool complete =
      !malformed && matched == hypothesis_.spans.size() && matched == reference_.spans.size();
  sums[3] += complete ? 1 : 0;
  ++sums[4];
}

double BracketF1::value(std::span<const double> sums) const {
  const double both = sums[1] + sums[2];
  return both > 0 ? 100 * 2 * sums[0] / both : 0;
}

double BracketF1::value(std::span<const float> sums) const {
  const double both = double(sums[1]) + double(sums[2]);
  return both > 0 ? 100 * 2 * double(sums[0]) / both : 0;
}

Score BracketF1::score(std::span<const double> sums) const {
  const auto percent = [](double part, double whole) { return whole > 0 ? 100 * part / whole : 0; };
  const double precision = percent(sums[0], sums[1]), recall = percent(sums[0], sums[2]);
  Score score;
  score.name = name();
  score.value = value(sums);
  score.details = "(P = " + fixed(precision, 2) + " R = " + fixed(recall, 2) +
                  " complete = " + fixed(percent(sums[3], sums[4]), 2) +
                  " segments = " + fixed(sums[4], 0) + " malformed = " + fixed(sums[5], 0) + ")";
  const std::vector<std::string> names = columns();
  for (size_t k = 0; k < names.size(); ++k) score.statistics[names[k]] = int64_t(sums[k]);
  score.statistics["precision"] = precision;
  score.statistics["recall"] = recall;
  return score;
}

}  // namespace tx
