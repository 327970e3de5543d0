// Statistics files, tx-stats(5): what is accepted gives scores, as text and as JSON, and files of
// the same settings add up. Two files, separated by a form feed.
#include "lib/base/io.h"
#include "lib/eval/report/scoring.h"
#include "lib/eval/report/systems.h"
#include "tests/fuzz/target.h"
#include "tests/scoring_options.h"

namespace tx_fuzz {

namespace {

std::string statistics(const char* names) {
  const tx::Metrics metrics = tx_test::metrics({"--metric", names});
  std::string text = tx::statistics_header(tx::metrics_to_json(metrics)) + "\n";
  const std::vector<std::string> references = {"(S (NP (DT a) (NN house)))"};
  for (const char* hypothesis : {"(S (NP (DT the) (NN house)))", "a house", ""}) {
    tx::Statistics row;
    for (const auto& metric : metrics) {
      tx::Statistics part(metric->size(), 0.0);
      metric->add(hypothesis, references, part);
      row.insert(row.end(), part.begin(), part.end());
    }
    text += tx::statistics_line(1, metrics, row) + "\n";
  }
  return text;
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string bleu = statistics("bleu"), chrf = statistics("chrf++");
  return {bleu, chrf, statistics("f1,ter"), statistics("bleu,chrf"), bleu + bleu + "\f" + bleu};
}

void run(std::string_view bytes) {
  static MemoryFile first, second, out;
  const size_t at = std::min(bytes.find('\f'), bytes.size());
  for (const bool json : {false, true}) {
    tx::ScoringOptions options;
    options.from_stats = true;
    options.files.references = {first.fill(bytes.substr(0, at))};
    if (at < bytes.size()) {
      options.files.references.push_back(second.fill(bytes.substr(at + 1)));
    }
    options.resamples = 2;
    options.threads = 1;
    options.confidence = bytes.size() % 2 == 0;
    options.json = json;
    out.fill("");
    tx::Writer writer(out.path());
    tx::run_scoring(std::move(options), tx::Log("tx-bleu"), writer);
    writer.close();
    require(!out.content().empty(), "what is accepted has scores");
  }
}

}  // namespace tx_fuzz
