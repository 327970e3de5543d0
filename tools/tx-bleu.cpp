// tx-bleu: score translations against references.
#include <string>

#include "lib/base/io.h"
#include "lib/base/log.h"
#include "lib/base/workers.h"
#include "lib/cli/options.h"
#include "lib/eval/scoring.h"

namespace {

using tx::Options;

void describe_input(Options& options, tx::ScoringOptions& settings,
                    std::vector<std::string>& systems) {
  tx::CorpusFiles& files = settings.files;
  options.group("Input");
  options.positional(
      "REFERENCE", files.references, "file of references, one per line",
      "Line n of every file belongs to line n of the hypotheses; of several files, each "
      "offers a hypothesis one more reference to match.");
  options.add("-i,--input", systems, "FILE", "hypotheses, instead of standard input",
              "Given several times, each file is a system, and a table compares them.");
  options
      .add("--num-refs", files.tab_references, "N", "references per line, separated by tabs",
           "They stand in one file. What follows the last of these tabs belongs to the last "
           "reference. An empty field is a reference without words, as sacreBLEU's command has "
           "it.")
      .range(1, 1000)
      .excludes({"--from-stats"});
  options
      .flag("--skip-empty", files.skip_empty, "leave out empty references",
            "Then segments may have different numbers of references, and the signature says "
            "nrefs:var, as sacreBLEU's does where a reference is None.")
      .excludes({"--from-stats"});
  options.flag("--from-stats", settings.from_stats,
               "the files hold statistics, as --stats writes them",
               "Several files are parts of one text. With -i each file is a system of its own. "
               "What the statistics depend on is stored in the files.");
  options
      .flag("--strict", files.strict, "stop at invalid UTF-8",
            "Otherwise each ill-formed sequence is replaced by U+FFFD, and a warning gives their "
            "number and the first line.")
      .excludes({"--from-stats"});
  options
      .flag("--force", settings.force,
            "do not warn about hypotheses that look tokenised or split into pieces")
      .excludes({"--from-stats"});
}

void describe_bleu(Options& options, tx::BleuOptions& bleu) {
  options.group("BLEU").needs({"--metric bleu"}).excludes({"--from-stats"});
  options
      .add("--tokenize", bleu.tokenizer, "NAME", "tokenizer",
           "13a is that of the WMT's mteval-v13a script, for text as people write it; intl that of "
           "mteval-v14, for punctuation of all scripts; zh takes each Chinese character as a token "
           "and the rest as 13a; char takes each character as a token; none is for text that is "
           "tokenised already: words stand between white space. spm takes the pieces of the "
           "SentencePiece model given with -m (spBLEU); flores101, flores200 and spBLEU-1K are the "
           "same under the name that sacreBLEU gives the model. The signature gives the hash of "
           "the model's file too, so two models never have the same signature. ja-mecab and "
           "ko-mecab are not built in.")
      .one_of(tx::tokenizer_names())
      .also(tx::tokenizers_not_built_in());
  options.add("-m,--model", bleu.model, "FILE", "SentencePiece model of tokenizer spm");
  options.flag("--lowercase", bleu.lowercase, "compare without regard to case");
  options
      .add("--smooth", bleu.smoothing, "NAME", "how to count an order without a match",
           "exp: 1/2^k matches, for the k-th such order. floor: the smoothing value as matches. "
           "add-k: the smoothing value is added to the matches and to the n-grams of all orders "
           "above 1. none: the score is 0.")
      .one_of(tx::smoothing_names());
  options
      .add("--smooth-value", bleu.smoothing_value, "X",
           "value of the smoothings floor (0.1) and add-k (1)")
      .range(0, 1e9)
      .needs({"--smooth floor", "--smooth add-k"});
  options.add("--max-order", bleu.max_order, "N", "n-grams up to this length").range(1, 100);
  options.flag("--effective-order", bleu.effective_order,
               "leave out orders that no hypothesis is long enough for",
               "Always so with --sentence.");
}

void describe_chrf(Options& options, tx::ChrfOptions& chrf) {
  options.group("chrF").needs({"--metric chrf", "--metric chrf++"}).excludes({"--from-stats"});
  options.add("--chrf-char-order", chrf.char_order, "N", "character n-grams up to this length")
      .range(1, 100);
  options
      .add("--chrf-word-order", chrf.word_order, "N", "word n-grams up to this length; 2 is chrF++")
      .range(0, 100)
      .needs({"--metric chrf"}, "chrf++ has a word order of 2; for another take chrf");
  options.add("--chrf-beta", chrf.beta, "N", "how many times recall counts as much as precision")
      .range(0, 1000);
  options.flag("--chrf-whitespace", chrf.space, "white space counts as characters")
      .was("--chrf-space,--space");
  options.flag("--chrf-lowercase", chrf.lowercase, "compare without regard to case");
  options.flag("--chrf-eps-smoothing", chrf.eps_smoothing,
               "mean of every order's F, as chrF++.py, NLTK and Moses have it");
}

void describe_ter(Options& options, tx::TercomOptions& ter, tx::BracketOptions& f1) {
  options.group("TER").needs({"--metric ter"}).excludes({"--from-stats"});
  options.flag("--ter-case-sensitive", ter.case_sensitive, "compare with regard to case");
  options.flag("--ter-normalized", ter.normalize, "resolve entities, split punctuation off words");
  options.flag("--ter-no-punct", ter.no_punctuation, "leave punctuation out");
  options.flag("--ter-asian-support", ter.asian,
               "do both for Chinese and Japanese characters and punctuation too");
  options.group("F1").needs({"--metric f1"}).excludes({"--from-stats"});
  options.flag("--skip-malformed", f1.skip_malformed,
               "leave malformed trees out of F1, as EVALB does",
               "Otherwise the constituents of their references count as missed.");
}

void describe_test(Options& options, tx::ScoringOptions& settings) {
  options.group("Confidence");
  options
      .flag("--confidence", settings.confidence,
            "mean and 95 % interval of a bootstrap for each system")
      .excludes({"--paired-bootstrap"}, "that test gives intervals as well")
      .excludes({"--paired-approximate", "--sentence", "--stats"});
  options
      .flag("--paired-bootstrap", settings.paired_bootstrap,
            "test every system against the first by paired bootstrap")
      .excludes({"--paired-approximate", "--sentence", "--stats"});
  options
      .flag("--paired-approximate", settings.paired_approximate,
            "test every system against the first by approximate randomisation")
      .excludes({"--paired-bootstrap", "--sentence", "--stats"});
  options.add("--resamples", settings.resamples, "N", "resamples of a bootstrap")
      .range(1, 100000000)
      .needs({"--confidence", "--paired-bootstrap"});
  options.add("--trials", settings.trials, "N", "trials of the approximate randomisation")
      .range(1, 100000000)
      .needs({"--paired-approximate"});
  options.add("--seed", settings.seed, "N", "seed of the random numbers; sacreBLEU's by default")
      .needs({"--confidence", "--paired-bootstrap", "--paired-approximate"});
  options.threads(settings.threads,
                  "They work on the tests. The result does not depend on their number.");
}

void describe(Options& options, tx::ScoringOptions& settings, std::vector<std::string>& systems) {
  options.usage("tx-bleu [OPTION]... REFERENCE... < HYPOTHESES");
  options.usage("tx-bleu [OPTION]... -i HYPOTHESES [-i HYPOTHESES]... REFERENCE...");
  options.usage("tx-bleu --from-stats [OPTION]... STATISTICS...");
  describe_input(options, settings, systems);
  options.group("Metric");
  options
      .add("--metric", settings.metrics.names, "NAME[,NAME]...",
           "one or more of bleu, chrf, chrf++, ter, f1",
           "chrf++ is chrf with a word order of 2; f1 compares bracketed trees.")
      .list_of({"bleu", "chrf", "chrf++", "ter", "f1"})
      .excludes({"--from-stats"});
  describe_bleu(options, settings.metrics.bleu);
  describe_chrf(options, settings.metrics.chrf);
  describe_ter(options, settings.metrics.ter, settings.metrics.f1);
  describe_test(options, settings);
  options.group("Output");
  options
      .flag("--sentence", settings.sentence, "one score per segment instead of one for the text",
            "The scores of several metrics are separated by tabs.")
      .excludes({"--stats", "--from-stats"});
  options.flag("--stats", settings.stats, "one line of statistics per segment, see tx-stats(5)")
      .excludes({"--sentence", "--from-stats"})
      .excludes({"--json", "--score-only"}, "statistics have a format of their own, tx-stats(5)");
  options.add("--digits", settings.width, "N", "decimal places of the score")
      .range(0, 17)
      .was("--width")
      .excludes({"--stats"}, "statistics have a format of their own, tx-stats(5)");
  options.flag("--score-only", settings.score_only, "print the score alone")
      .excludes({"--json"}, "the JSON has the score in it");
  options.flag("--json", settings.json, "print JSON, with the figures behind the score");
}

}  // namespace

int main(int argc, char** argv) {
  return tx::run_tool("tx-bleu", [&] {
    tx::ScoringOptions settings;
    settings.threads = tx::available_cpus();
    std::vector<std::string> systems;
    Options options("tx-bleu", "score translations: BLEU, chrF, TER as sacreBLEU; F1 of trees");
    describe(options, settings, systems);
    if (!options.parse(argc, argv)) return 0;

    if (!systems.empty()) settings.files.systems = systems;
    tx::Writer out("-");
    tx::run_scoring(settings, tx::Log("tx-bleu"), out);
    out.close();
    return 0;
  });
}
