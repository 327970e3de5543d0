// The options of tx-bleu.
#include "lib/eval/report/scoring.h"

namespace tx {
namespace {

void describe_input(Options& options, ScoringOptions& o) {
  CorpusFiles& files = o.files;
  options.group("Input");
  options
      .positional("REFERENCE", files.references,
                  "file of references, one per line; several files: multiple references")
      .input();
  options
      .add("-i,--input", files.systems, "FILE", "hypotheses of one system",
           "Repeat -i for each further system: -i a -i b.")
      .or_standard_input("--from-stats");
  options
      .add("--num-refs", files.tab_references, "N",
           "references per line of one file, separated by tabs",
           "Further tabs belong to the last reference. An empty field is an empty reference, as in "
           "sacreBLEU.")
      .range(1, 1000)
      .alias("-nr")
      .excludes({"--from-stats"});
  options
      .flag("--skip-empty", files.skip_empty, "ignore empty references",
            "The signature then has nrefs:var, as in sacreBLEU where a reference is None.")
      .excludes({"--from-stats"});
  options.flag("--from-stats", o.from_stats, "compute scores from files that --stats wrote",
               "Several files are parts of one text; with -i each file is a system. The files "
               "contain the options of their metric.");
  options
      .flag("--strict", files.strict, "stop at the first line that is not valid UTF-8",
            "Otherwise invalid bytes become U+FFFD and are counted in a warning.")
      .excludes({"--from-stats"});
  options.flag("--force", o.force, "do not warn about tokenised or subword-split hypotheses")
      .excludes({"--from-stats"});
}

void describe_tests(Options& options, ScoringOptions& o) {
  options.group("Confidence");
  options
      .flag("--confidence", o.confidence,
            "bootstrap mean and 95 % confidence interval of each system")
      .alias("-ci")
      .excludes({"--paired-bootstrap"}, "that test gives intervals as well")
      .excludes({"--paired-approximate", "--sentence", "--stats"});
  options
      .flag("--paired-bootstrap", o.paired_bootstrap,
            "paired bootstrap test of every system against the first")
      .alias("--paired-bs,-pbs")
      .excludes({"--paired-approximate", "--sentence", "--stats"});
  options
      .flag("--paired-approximate", o.paired_approximate,
            "paired approximate randomisation test against the first")
      .alias("--paired-ar,-par")
      .excludes({"--paired-bootstrap", "--sentence", "--stats"});
  options.add("--resamples", o.resamples, "N", "bootstrap resamples")
      .range(1, 100000000)
      .alias("--confidence-n,-cin,--paired-bs-n,-pbsn")
      .needs({"--confidence", "--paired-bootstrap"});
  options.add("--trials", o.trials, "N", "trials of --paired-approximate")
      .range(1, 100000000)
      .alias("--paired-ar-n,-parn")
      .needs({"--paired-approximate"});
  options.add("--seed", o.seed, "N", "random seed; the default is sacreBLEU's")
      .needs({"--confidence", "--paired-bootstrap", "--paired-approximate"});
  options.threads(o.threads, "Used by tests and confidence intervals; does not change the result.")
      .alias("--paired-jobs,-j");
}

void describe_output(Options& options, ScoringOptions& o) {
  options.group("Output");
  options
      .flag("--sentence", o.sentence, "print one score per segment",
            "The scores of several metrics are separated by tabs.")
      .alias("--sentence-level,-sl")
      .excludes({"--stats", "--from-stats"});
  options.flag("--stats", o.stats, "print the statistics of each segment, see tx-stats(5)")
      .excludes({"--sentence", "--from-stats"})
      .excludes({"--json", "--score-only"}, "statistics have their own format, tx-stats(5)");
  options.add("--digits", o.width, "N", "decimal places of scores")
      .range(0, 17)
      .alias("--width,-w")
      .excludes({"--stats"}, "statistics have their own format, tx-stats(5)");
  options.flag("--score-only", o.score_only, "print only the score")
      .alias("-b")
      .excludes({"--json"}, "the JSON contains the score");
  options.flag("--json", o.json, "print JSON with the statistics");
  options.flag("-q,--quiet", o.quiet, "do not explain scores of 0");
  // sacreBLEU's options, for its users.
  options.add("--format", o.format, "text|json", "text, or JSON as with --json")
      .one_of({"text", "json"})
      .alias("-f")
      .secret();
  options.flag("--no-color", o.no_color, "no colours (this is the default)").alias("-nc").secret();
  options.add("--encoding", o.encoding, "utf-8", "the encoding of all files")
      .one_of({"utf-8", "UTF-8", "utf8"})
      .alias("-e")
      .secret();
  options.add("--test-set", o.test_set, "NAME", "a test set of sacreBLEU (not supported)")
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
