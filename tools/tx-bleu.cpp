// tx-bleu: score translations against references.
#include "lib/eval/scoring.h"

int main(int argc, char** argv) {
  return tx::run_tool("tx-bleu", [&] {
    tx::ScoringOptions settings;
    tx::Options options("tx-bleu", "score translations: " + tx::metrics_summary());
    settings.describe(options);
    if (!options.parse(argc, argv)) return 0;

    tx::Writer out("-");
    tx::run_scoring(std::move(settings), tx::Log("tx-bleu"), out);
    out.close();
    return 0;
  });
}
