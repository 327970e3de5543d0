// What tx-bleu reads: hypotheses and references; two parts of the input, parted by a form feed.
#include <cmath>

#include "lib/base/error.h"
#include "lib/eval/bleu.h"
#include "lib/eval/corpus.h"
#include "lib/eval/report.h"
#include "tests/fuzz/target.h"

namespace tx_fuzz {

namespace {

void score(const std::vector<std::pair<std::string, std::string>>& segments,
           const tx::BleuOptions& options) {
  tx::Bleu bleu(options), own(options);
  tx::Statistics sums(bleu.size(), 0.0), own_sums(bleu.size(), 0.0);
  for (const auto& [hypothesis, reference] : segments) {
    bleu.add(hypothesis, {&reference, 1}, sums);
    own.add(hypothesis, {&hypothesis, 1}, own_sums);
  }
  const tx::Score found = bleu.score(sums), perfect = own.score(own_sums);
  require(found.value >= 0 && found.value < 100.000001, "a score from 0 to 100");
  require(perfect.value == 0 || std::abs(perfect.value - 100) < 1e-6 || own_sums[9] == 0,
          "a text scores 100 against itself");
  tx::score_line(found, 2);
  tx::to_text(tx::score_json(found, 2));
}

}  // namespace

std::vector<std::string> seeds() {
  return {"the house is small .\nan end\n\fthe house is big .\nan end\n",
          "It's 1,000.5 &quot;x&quot; -- Mr. A-B\n\fIt is 1.000,5 \"x\" - M\xC3\xBCller\n",
          "\xE4\xBD\xA0\xE5\xA5\xBD \xFF\n\n\f\xE4\xBD\xA0 \xCE\xA3\xCF\x82\n\n"};
}

void run(std::string_view bytes) {
  static MemoryFile hypotheses, references;
  const size_t at = std::min(bytes.find('\f'), bytes.size());
  tx::CorpusFiles files;
  files.systems = {hypotheses.fill(bytes.substr(0, at))};
  files.references = {references.fill(bytes.substr(std::min(bytes.size(), at + 1)))};
  tx::SegmentReader reader(files);
  std::vector<std::pair<std::string, std::string>> segments;
  for (tx::Segment segment; reader.next(segment);)
    segments.emplace_back(segment.hypotheses[0], segment.references[0]);
  for (const char* tokenizer : {"13a", "intl", "char", "zh", "none"}) {
    for (const bool lowercase : {false, true}) {
      tx::BleuOptions options;
      options.tokenizer = tokenizer;
      options.lowercase = lowercase;
      score(segments, options);
    }
  }
}

}  // namespace tx_fuzz
