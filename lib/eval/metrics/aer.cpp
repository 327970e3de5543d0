// Alignment error rate of word alignments (Och and Ney, 2003), with precision and recall:
//   AER       = 100 (1 - (|A and S| + |A and P|) / (|A| + |S|))
//   precision = |A and P| / |A|,  recall = |A and S| / |S|
// A are the links of the hypothesis, S the sure links of the reference, P its sure and possible
// links. Lower is better. Sums are over the corpus; repeated links count once.
//
// The first line of a file determines its format:
//   Pharaoh  line n has the links of sentence n, "0-0 1-2 1?3": positions of words from 0, in the
//            source and in the target; ? or p instead of - marks a possible link
//   NAACL    each line is a link, "SENTENCE SOURCE TARGET [S|P] [CONFIDENCE]", numbers from 1, in
//            the order of sentences (Mihalcea and Pedersen, 2003); P marks a possible link. 0 is
//            no word: such links are ignored. Sentences that do not occur have no links.
// In a hypothesis sure and possible links are equivalent.
#include <algorithm>
#include <iterator>

#include "lib/base/error.h"
#include "lib/base/split.h"
#include "lib/eval/metric.h"
#include "lib/text/parse.h"

namespace tx {
namespace {

// Links as numbers, sorted, each once.
using Links = std::vector<uint64_t>;

void sort_once(Links& links) {
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
}

size_t count_common(const Links& a, const Links& b) {
  Links common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return common.size();
}

struct Alignment {
  Links all, sure;  // S is a part of all, as it is a part of P

  void read(std::string_view line) {
    all.clear();
    sure.clear();
    for (const WordLink& link : parse_links(line)) {
      all.push_back(uint64_t(link.source) << 32 | link.target);
      if (link.sure) sure.push_back(all.back());
    }
    sort_once(all);
    sort_once(sure);
  }
};

// Converts segments of either format to Pharaoh's.
class AlignmentForm : public SegmentForm {
 public:
  bool next(const Lines& lines, std::string& segment) override {
    segment.clear();
    if (!begun_) begin(lines);
    return naacl_ ? next_sentence(lines, segment) : next_line(lines, segment);
  }
  bool open_ended() const override { return naacl_; }
  std::optional<bool> counts_from_zero() const override { return zero_; }

 private:
  // A link of the NAACL format in Pharaoh's; "" if it has no word.
  struct Line {
    uint32_t sentence = 0;
    std::string link;
  };

  void begin(const Lines& lines) {
    begun_ = true;
    std::string first;
    waiting_ = lines.next(first);
    const std::vector<std::string_view> fields = split_fields(first);
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    naacl_ = !fields.empty() && std::all_of(fields[0].begin(), fields[0].end(), digit);
    if (naacl_)
      line_ = parse(first, lines);
    else
      line_.link = std::move(first);
  }

  bool next_line(const Lines& lines, std::string& segment) {
    if (waiting_) {
      segment = std::move(line_.link);
      waiting_ = false;
    } else if (!lines.next(segment)) {
      return false;
    }
    try {
      note(parse_links(segment));
    } catch (const DataError& error) {
      throw DataError(lines.place() + ": " + error.what());
    }
    return true;
  }

  void note(const std::vector<WordLink>& links) {
    for (const WordLink& link : links)
      zero_ = zero_.value_or(false) || link.source == 0 || link.target == 0;
  }

  bool next_sentence(const Lines& lines, std::string& segment) {
    if (!waiting_) return false;
    ++sentence_;
    while (waiting_ && line_.sentence == sentence_) {
      segment += (segment.empty() || line_.link.empty() ? "" : " ") + line_.link;
      std::string text;
      waiting_ = false;
      while (!waiting_ && lines.next(text)) waiting_ = !split_fields(text).empty();
      if (waiting_) line_ = parse(text, lines);
    }
    note(parse_links(segment));
    return true;
  }

  Line parse(const std::string& text, const Lines& lines) const {
    const std::vector<std::string_view> fields = split_fields(text);
    const auto refuse = [&](const std::string& what) {
      throw DataError(lines.place() + ": " + what);
    };
    uint32_t numbers[3] = {};
    bool well_formed = fields.size() >= 3;
    for (size_t i = 0; well_formed && i < 3; ++i) {
      std::string_view rest = fields[i];
      well_formed = take_number(rest, numbers[i]) && rest.empty();
    }
    size_t used = 3;
    const bool marked = fields.size() > used && (fields[used] == "S" || fields[used] == "P");
    const bool possible = marked && fields[used] == "P";
    if (marked) ++used;
    if (fields.size() > used) {
      double confidence = 0;
      well_formed = parse_number(fields[used++], confidence) && well_formed;
    }
    const auto [sentence, source, target] = numbers;
    if (!well_formed || used < fields.size() || sentence == 0)
      refuse("not a link of the form SENTENCE SOURCE TARGET [S|P] [CONFIDENCE]");
    if (sentence < std::max(sentence_, line_.sentence))
      refuse("sentence " + std::to_string(sentence) + " comes after sentence " +
             std::to_string(line_.sentence) + "; sort the file with sort -s -n -k 1,1");
    if (const uint32_t before = std::max(sentence_, line_.sentence);
        sentence > before && sentence - before > max_gap)
      refuse("sentence " + std::to_string(sentence) + " comes after sentence " +
             std::to_string(before) + ": a number is wrong");
    Line line{sentence, ""};
    if (source > 0 && target > 0)
      line.link = std::to_string(source - 1) + (possible ? "?" : "-") + std::to_string(target - 1);
    return line;
  }

  static constexpr uint32_t max_gap = 1000000;  // sentences without links
  bool begun_ = false, naacl_ = false;
  bool waiting_ = false;  // line_ was read ahead
  Line line_;
  uint32_t sentence_ = 0;  // of the last segment
  std::optional<bool> zero_;
};

class Aer : public MetricOf<Aer, MetricOptionsBase> {
 public:
  using MetricOf::MetricOf;
  std::string name() const override { return "AER"; }
  std::string settings() const override { return "null:skip"; }
  std::string version() const override { return own_version(); }
  // |A|, |S|, |A and S|, |A and P|
  std::vector<std::string> columns() const override {
    return {"links", "sure", "matched_sure", "matched"};
  }
  std::unique_ptr<SegmentForm> form() const override { return std::make_unique<AlignmentForm>(); }
  bool lower_is_better() const override { return true; }

  // Lines in Pharaoh's format, and one reference. DataError for other lines.
  void add(std::string_view hypothesis, std::span<const std::string> references,
           std::span<double> sums) override {
    if (references.size() != 1) throw UsageError("aer supports one reference only");
    hypothesis_.read(hypothesis);
    reference_.read(references[0]);
    sums[0] += double(hypothesis_.all.size());
    sums[1] += double(reference_.sure.size());
    sums[2] += double(count_common(hypothesis_.all, reference_.sure));
    sums[3] += double(count_common(hypothesis_.all, reference_.all));
  }

  template <class T>
  double compute(std::span<const T> sums) const {
    const double both = double(sums[0]) + double(sums[1]);
    return both > 0 ? 100 * (1 - (double(sums[2]) + double(sums[3])) / both) : 0;
  }

 private:
  void explain(std::span<const double> sums, Score& score) const override {
    const auto percent = [](double part, double all) { return all > 0 ? 100 * part / all : 0; };
    const double precision = percent(sums[3], sums[0]), recall = percent(sums[2], sums[1]);
    score.details = "(P = " + fixed(precision, 2) + " R = " + fixed(recall, 2) +
                    " links = " + fixed(sums[0], 0) + " sure = " + fixed(sums[1], 0) + ")";
    const std::vector<std::string> names = columns();
    for (size_t k = 0; k < names.size(); ++k) score.statistics[names[k]] = int64_t(sums[k]);
    score.statistics["precision"] = precision;
    score.statistics["recall"] = recall;
  }

  Alignment hypothesis_, reference_;
};

}  // namespace

std::unique_ptr<MetricKind> aer_metric() {
  return metric_kind<Aer>({.names = {"aer"},
                           .heading = "AER",
                           .subject = "alignments",
                           .note = "aer compares word alignments"});
}

}  // namespace tx
