// What tx-bleu reads: hypotheses and references. The first byte selects metrics and settings; the
// two texts after it are separated by a form feed.
#include <cmath>

#include "lib/base/error.h"
#include "lib/eval/corpus.h"
#include "lib/eval/report/report.h"
#include "tests/fuzz/target.h"
#include "tests/scoring_options.h"

namespace tx_fuzz {

namespace {

using Words = std::vector<std::string>;

// Every metric as it is, and further settings.
std::vector<Words> all_settings() {
  std::vector<Words> all;
  for (const std::string& name : tx::metric_names()) all.push_back({"--metric", name});
  for (const bool lowercase : {false, true}) {
    const auto add = [&](Words words, const Words& more) {
      if (lowercase) words.insert(words.end(), more.begin(), more.end());
      all.push_back(words);
    };
    for (const char* tokenizer : {"13a", "intl", "char", "zh", "none"})
      add({"--metric", "bleu", "--tokenize", tokenizer}, {"--lowercase"});
    add({"--metric", "chrf,chrf++"}, {"--chrf-lowercase", "--chrf-whitespace"});
    add({"--metric", "ter"}, {"--ter-case-sensitive", "--ter-normalized"});
    add({"--metric", "ter", "--ter-normalized", "--ter-no-punct", "--ter-asian-support"},
        {"--ter-case-sensitive"});
    add({"--metric", "f1"}, {"--skip-malformed"});
  }
  return all;
}

using Segments = std::vector<std::pair<std::string, std::string>>;

void check_scores(tx::Metric& metric, const Segments& segments) {
  tx::Statistics sums(metric.size(), 0.0), own_sums(metric.size(), 0.0);
  for (const auto& [hypothesis, reference] : segments) {
    metric.add(hypothesis, {&reference, 1}, sums);
    metric.add(reference, {&reference, 1}, own_sums);
  }
  const tx::Score found = metric.score(sums), own = metric.score(own_sums);
  const bool edits = metric.name() == "TER", errors = metric.lower_is_better();
  require(found.value >= 0 && (edits || found.value < 100.000001), "a score from 0 to 100");
  // A text without words has no match; for BLEU, neither has one without four words in a row. TER
  // tokenises references twice if it splits them.
  const bool perfect = std::abs(own.value - 100) < 1e-6, nothing = own.value == 0;
  const bool unlike =
      errors ? edits && metric.settings().find("norm:no|punct:yes") == std::string::npos
             : nothing || (metric.name() == "BLEU" && own_sums[9] == 0);
  require(unlike || (errors ? nothing : perfect), "a text agrees with itself");
  tx::score_line(found, 2);
  tx::to_text(tx::score_json(found, 2));
}

}  // namespace

std::vector<std::string> seeds() {
  const char* const texts[] = {
      "the house is small .\nan end\n\fthe house is big .\nan end\n",
      "It's 1,000.5 &quot;x&quot; -- Mr. A-B\n\fIt is 1.000,5 \"x\" - M\xC3\xBCller\n",
      "\xE4\xBD\xA0\xE5\xA5\xBD \xFF\n\n\f\xE4\xBD\xA0 \xCE\xA3\xCF\x82\n\n",
      "a b c d e f\n\fd e f a b c\n"};
  const char trees[] = "(S (NP (DT a) (NN dog)) )NP (VP x)\n\f(S (NP-SBJ (DT a) (NN dog)) (. .))\n";
  const char* const alignments[] = {"0-0 1?2 3p3\n\n\f0-0 1-1\n2?0\n",
                                    "1 1 1\n3 2 1\n\f1 1 1 S\n1 0 2 P 0.5\n2 1 1 1\n"};
  std::vector<std::string> inputs;
  const std::vector<Words> settings = all_settings();
  for (size_t i = 0; i < settings.size(); ++i) {
    const auto add = [&](const char* text) { inputs.push_back(char('A' + i) + std::string(text)); };
    const std::string& metric = settings[i][1];
    if (metric == "f1") {
      add(trees);
    } else if (metric == "aer") {
      for (const char* text : alignments) add(text);
    } else {
      for (const char* text : texts) add(text);
    }
  }
  return inputs;
}

void run(std::string_view bytes) {
  static const std::vector<Words> all = all_settings();
  static MemoryFile hypotheses, references;
  if (bytes.empty()) return;
  const Words& words = all[size_t(uint8_t(bytes[0] - 'A')) % all.size()];
  bytes.remove_prefix(1);
  const size_t at = std::min(bytes.find('\f'), bytes.size());
  tx::CorpusFiles files;
  files.systems = {hypotheses.fill(bytes.substr(0, at))};
  files.references = {references.fill(bytes.substr(std::min(bytes.size(), at + 1)))};
  const tx::Metrics metrics = tx_test::metrics(words);
  tx::SegmentReader reader(files, tx::form_of(metrics));
  Segments segments;
  for (tx::Segment segment; reader.next(segment);)
    segments.emplace_back(segment.hypotheses[0], segment.references[0]);
  for (const auto& metric : metrics) check_scores(*metric, segments);
}

}  // namespace tx_fuzz
