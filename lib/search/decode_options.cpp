#include "lib/search/decode_options.h"

#include "lib/base/memory.h"
#include "lib/text/line_pairs.h"

namespace tx {

void DecodeOptions::describe(Options& options) {
  options.usage("tx-decode -m MODEL [OPTION]... < TEXT > TRANSLATIONS");
  options.group("Input and output");
  translator.describe_models(options);
  options.positional("FILE", files, "text, plain or gzip; standard input when left out");
  options
      .flag("--pieces", pieces, "read and write pieces in place of text",
            "Lines are what tx-bpe encode prints and tx-bpe decode reads.")
      .excludes({"--ids"});
  options.flag("--ids", ids, "read and write the numbers of pieces").excludes({"--pieces"});
  options
      .flag("--scores", lines.scores, "print score, log P and translation, separated by tabs",
            "Both are natural logarithms; log P is that of the pieces and the end, the score is "
            "log P over the length penalty.")
      .excludes({"--check-invariance"});
  options
      .add("--tgt", target, "FILE", "score these translations in place of a search",
           "Line n belongs to line n of the text. For each the score, log P and the translation "
           "are printed, as with --scores; it is cut as the model cuts it into pieces.")
      .was("--target");
  options
      .flag("--prefix", lines.prefix, "lines are TEXT, a tab, and what the output begins with",
            "The beginning is cut into pieces as the model cuts it, is forced, and counts in score "
            "and log P like the rest. Nothing behind the tab, or no tab, forces nothing.")
      .excludes({"--tgt"});
  translator.describe_length(options);
  translator.describe_heads(options);
  options.flag("--strict", strict, "stop at the first line that is not valid UTF-8",
               "Otherwise such bytes are replaced by U+FFFD and counted.");
  options
      .add("--status", status, "FILE|FD", "write a record for each line to a file or descriptor",
           "See tx-status(5).")
      .excludes({"--check-invariance"}, "there are no translations to record");
  options.flag(
      "--check-invariance", check_invariance,
      "translate the text in several ways and compare, instead of printing it",
      "Each line alone, in reverse order, in random batches, with other numbers of workers and "
      "threads; pieces and scores must be the same bits. The last line of the report is the "
      "verdict; where a line differs, the status is 1 and the line is named. It takes five times "
      "as long, and memory for the whole text.");
  options.flag(
      "-q,--quiet", quiet, "no progress on a terminal",
      "Otherwise a terminal shows how many lines are done, where the input is a file and the "
      "output goes elsewhere.");
  translator.search.describe(options);
  translator.describe_machine(options);
  translator.describe_memory(options);
}

void DecodeOptions::resolve(const Options& options) {
  if (pieces) lines.form = LineForm::pieces;
  if (ids) lines.form = LineForm::ids;
  lines.list = options.given("nbest");
  translator.search.prefix = lines.prefix;
  translator.search.check();
  if (!target.empty()) translator.search.forced_target = lines.scores = true;
  LinePairs::check(files, target);
  if (!translator.memory.empty()) parse_size(translator.memory, "--memory");
}

}  // namespace tx
