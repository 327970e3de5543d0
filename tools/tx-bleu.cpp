// tx-bleu: score translations against references.
#include <string>

#include "lib/base/io.h"
#include "lib/base/log.h"
#include "lib/cli/options.h"
#include "lib/eval/bleu.h"
#include "lib/eval/corpus.h"
#include "lib/eval/report.h"

namespace {

struct Settings {
  tx::CorpusFiles files;
  tx::BleuOptions bleu;
  int width = 1;
  bool score_only = false, json = false;
};

void describe(tx::Options& options, Settings& settings) {
  options.usage("tx-bleu [OPTION]... REFERENCE... < HYPOTHESES");
  options.group("Input");
  options
      .positional(
          "REFERENCE", settings.files.references, "file of references, one a line",
          "Line n of every file belongs to line n of the hypotheses; of several files, each "
          "offers a hypothesis one more reference to match.")
      .must();
  options.add("-i,--input", settings.files.hypotheses, "FILE",
              "hypotheses, instead of standard input");
  options.flag(
      "--strict", settings.files.strict, "stop at invalid UTF-8",
      "Otherwise each ill-formed sequence is replaced by U+FFFD, and a warning gives their "
      "number and the first line.");
  options.group("Metric");
  options
      .add("--tokenize", settings.bleu.tokenizer, "13a|char|none", "tokenizer",
           "13a is that of the WMT's mteval-v13a script, for text as people write it; char takes "
           "each character as a token; none is for text that is tokenised already: words stand "
           "between white space.")
      .one_of(tx::tokenizer_names());
  options.flag("--lowercase", settings.bleu.lowercase, "compare without regard to case");
  options.group("Output");
  options.add("--width", settings.width, "N", "decimal places of the score").range(0, 17);
  options.flag("--score-only", settings.score_only, "print the score alone");
  options.flag("--json", settings.json, "print a JSON object, with the figures behind the score");
}

std::string report(const tx::Score& score, const Settings& settings) {
  if (settings.score_only) return tx::fixed(score.value, settings.width);
  if (settings.json) return tx::to_text(tx::score_json(score, settings.width), 1);
  return tx::score_line(score, settings.width);
}

}  // namespace

int main(int argc, char** argv) {
  return tx::run_tool("tx-bleu", [&] {
    Settings settings;
    tx::Options options("tx-bleu", "score translations: BLEU, equal to sacreBLEU's");
    describe(options, settings);
    if (!options.parse(argc, argv)) return 0;

    tx::Bleu bleu(settings.bleu);
    const tx::Score score = tx::score_corpus(bleu, settings.files, tx::Log("tx-bleu"));
    tx::Writer out("-");
    out.write(report(score, settings) + "\n");
    out.close();
    return 0;
  });
}
