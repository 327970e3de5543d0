#include <algorithm>
#include <cmath>

#include "lib/base/figure.h"
#include "lib/base/split.h"
#include "lib/diagnose/translation.h"
#include "lib/eval/metrics.h"
#include "lib/search/engine/continuation.h"
#include "lib/search/lines/source_reader.h"

namespace tx {

namespace {

constexpr size_t max_shown = 5;  // lines

// A translation of a line.
struct Made {
  std::string text;
  double log_p = 0;
};

struct Compared {
  int64_t line;
  Made a, b;
  double difference() const { return a.log_p - b.log_p; }
};

// The texts that tx-decode prints.
std::vector<Made> translate(const std::vector<Source>& sources, const Translator& translator,
                            const std::vector<std::string>& stops) {
  const Vocabulary& vocabulary = translator.models().target();
  const bool continues = translator.models().kind() == ModelKind::decoder;
  const std::vector<Translation> found = translator.translate(sources);
  std::vector<Made> out;
  for (size_t i = 0; i < found.size(); ++i) {
    const std::span<const int> prompt = continues ? sources[i].ids : std::span<const int>();
    const TokenHypothesis& h = found[i].front();
    const std::string text = prompt.empty()
                                 ? vocabulary.decode(h.ids)
                                 : continuation_text(vocabulary, prompt, h.ids, h.repeats);
    out.push_back({one_line(before_stop(text, stops)), h.log_p});
  }
  return out;
}

double bleu(const std::vector<Compared>& lines) {
  const auto metric = make_metric("bleu");
  metric->score_segments();  // lines of fewer than 4 words have no 4-grams: use the effective order
  Statistics sums(metric->size());
  for (const Compared& line : lines) metric->add(line.a.text, {&line.b.text, 1}, sums);
  return metric->value(sums);
}

std::string named(const char* name, const Translator& translator) {
  return std::string(name) + ": " + joined(translator.options().models, ", ") + " in " +
         translator.precision() + "\n";
}

std::string largest_differences(std::vector<Compared> lines) {
  const size_t shown = std::min(max_shown, lines.size());
  std::partial_sort(lines.begin(), lines.begin() + ptrdiff_t(shown), lines.end(),
                    [](const Compared& x, const Compared& y) {
                      const double d = std::abs(x.difference()), e = std::abs(y.difference());
                      return d != e ? d > e : x.line < y.line;
                    });
  std::string out;
  for (size_t i = 0; i < shown; ++i) {
    const Compared& c = lines[i];
    out += "line " + std::to_string(c.line) + ", log P " + formatted("%.4f", c.a.log_p) + " and " +
           formatted("%.4f", c.b.log_p) + "\n  A: " + c.a.text + "\n  B: " + c.b.text + "\n";
  }
  return out;
}

std::string report(const std::vector<Compared>& lines) {
  const double count = double(lines.size());
  int64_t equal = 0;
  double difference = 0, largest = 0;
  for (const Compared& line : lines) {
    equal += line.a.text == line.b.text;
    difference += line.difference() / count;
    largest = std::max(largest, std::abs(line.difference()));
  }
  return counted(int64_t(lines.size()), "line") + ", equal: " + std::to_string(equal) + " (" +
         formatted("%.1f", 100 * double(equal) / count) +
         " %)\nBLEU of A against B: " + formatted("%.2f", bleu(lines)) +
         "\nlog P of A minus log P of B: mean " + formatted("%.4f", difference) + ", largest " +
         formatted("%.4f", largest) + "\nthe largest differences:\n" + largest_differences(lines);
}

}  // namespace

std::string compare_translators(LinePairs& in, const Translator& a, const Translator& b,
                                const LineOptions& options, const Log& log) {
  SourceReader reader_a(in, a, options, log), reader_b(in, b, options, log);
  std::vector<Source> sources_a, sources_b;
  std::vector<Compared> lines;
  Line line;
  for (Source source; reader_a.next(line, source);) {
    if (line.blank) continue;
    sources_a.push_back(std::move(source));
    reader_b.take_from(reader_a, line, source);
    sources_b.push_back(std::move(source));
    lines.push_back({line.number, {}, {}});
  }
  reader_a.warn_at_end();
  reader_b.warn_at_end();
  const std::string head = named("A", a) + named("B", b);
  if (lines.empty()) return head + "no lines to translate\n";
  std::vector<Made> ours = translate(sources_a, a, options.stops),
                    theirs = translate(sources_b, b, options.stops);
  for (size_t i = 0; i < lines.size(); ++i) {
    lines[i].a = std::move(ours[i]);
    lines[i].b = std::move(theirs[i]);
  }
  return head + report(lines);
}

}  // namespace tx
