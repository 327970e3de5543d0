// The options of tx-bleu.
#include "lib/eval/scoring.h"

namespace tx {
namespace {

void describe_input(Options& options, ScoringOptions& o) {
  CorpusFiles& files = o.files;
  options.group("Input");
  options
      .positional(
          "REFERENCE", files.references, "file of references, one per line",
          "Line n of every file belongs to line n of the hypotheses; of several files, each "
          "offers a hypothesis one more reference to match.")
      .input();
  options
      .add("-i,--input", files.systems, "FILE", "hypotheses, instead of standard input",
           "Given several times, each file is a system, and a table compares them.")
      .input();
  options
      .add("--num-refs", files.tab_references, "N", "references per line, separated by tabs",
           "They stand in one file. What follows the last of these tabs belongs to the last "
           "reference. An empty field is a reference without words, as sacreBLEU's command has "
           "it.")
      .range(1, 1000)
      .alias("-nr")
      .excludes({"--from-stats"});
  options
      .flag("--skip-empty", files.skip_empty, "leave out empty references",
            "Then segments may have different numbers of references, and the signature says "
            "nrefs:var, as sacreBLEU's does where a reference is None.")
      .excludes({"--from-stats"});
  options.flag("--from-stats", o.from_stats, "the files hold statistics, as --stats writes them",
               "Several files are parts of one text. With -i each file is a system of its own. "
               "What the statistics depend on is stored in the files.");
  options
      .flag("--strict", files.strict, "stop at invalid UTF-8",
            "Otherwise each ill-formed sequence is replaced by U+FFFD, and a warning gives their "
            "number and the first line.")
      .excludes({"--from-stats"});
  options
      .flag("--force", o.force,
            "do not warn about hypotheses that look tokenised or split into pieces")
      .excludes({"--from-stats"});
}

void describe_tests(Options& options, ScoringOptions& o) {
  options.group("Confidence");
  options
      .flag("--confidence", o.confidence, "mean and 95 % interval of a bootstrap for each system")
      .alias("-ci")
      .excludes({"--paired-bootstrap"}, "that test gives intervals as well")
      .excludes({"--paired-approximate", "--sentence", "--stats"});
  options
      .flag("--paired-bootstrap", o.paired_bootstrap,
            "test every system against the first by paired bootstrap")
      .alias("--paired-bs,-pbs")
      .excludes({"--paired-approximate", "--sentence", "--stats"});
  options
      .flag("--paired-approximate", o.paired_approximate,
            "test every system against the first by approximate randomisation")
      .alias("--paired-ar,-par")
      .excludes({"--paired-bootstrap", "--sentence", "--stats"});
  options.add("--resamples", o.resamples, "N", "resamples of a bootstrap")
      .range(1, 100000000)
      .alias("--confidence-n,-cin,--paired-bs-n,-pbsn")
      .needs({"--confidence", "--paired-bootstrap"});
  options.add("--trials", o.trials, "N", "trials of the approximate randomisation")
      .range(1, 100000000)
      .alias("--paired-ar-n,-parn")
      .needs({"--paired-approximate"});
  options.add("--seed", o.seed, "N", "seed of the random numbers; sacreBLEU's by default")
      .needs({"--confidence", "--paired-bootstrap", "--paired-approximate"});
  options.threads(o.threads, "They work on the tests. The result does not depend on their number.")
      .alias("--paired-jobs,-j");
}

void describe_output(Options& options, ScoringOptions& o) {
  options.group("Output");
  options
      .flag("--sentence", o.sentence, "one score per segment instead of one for the text",
            "The scores of several metrics are separated by tabs.")
      .alias("--sentence-level,-sl")
      .excludes({"--stats", "--from-stats"});
  options.flag("--stats", o.stats, "one line of statistics per segment, see tx-stats(5)")
      .excludes({"--sentence", "--from-stats"})
      .excludes({"--json", "--score-only"}, "statistics have a format of their own, tx-stats(5)");
  options.add("--digits", o.width, "N", "decimal places of the score")
      .range(0, 17)
      .alias("--width,-w")
      .excludes({"--stats"}, "statistics have a format of their own, tx-stats(5)");
  options.flag("--score-only", o.score_only, "print the score alone")
      .alias("-b")
      .excludes({"--json"}, "the JSON has the score in it");
  options.flag("--json", o.json, "print JSON, with the figures behind the score");
  // What users of sacreBLEU type.
  options.add("--format", o.format, "text|json", "text, or JSON as with --json")
      .one_of({"text", "json"})
      .alias("-f")
      .secret();
  options.add("--test-set", o.test_set, "NAME", "a text to score against by its name")
      .alias("-t,--language-pair,-l,--origlang,-ol,--subset,--echo,--download")
      .secret();
}

}  // namespace

void ScoringOptions::describe(Options& options) {
  options.usage("tx-bleu [OPTION]... REFERENCE... < HYPOTHESES");
  options.usage("tx-bleu [OPTION]... -i HYPOTHESES [-i HYPOTHESES]... REFERENCE...");
  options.usage("tx-bleu --from-stats [OPTION]... STATISTICS...");
  describe_input(options, *this);
  metrics.describe(options);
  describe_tests(options, *this);
  describe_output(options, *this);
}

}  // namespace tx
