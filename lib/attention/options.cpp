#include "lib/attention/options.h"

#include "lib/base/error.h"
#include "lib/text/line_pairs.h"

namespace tx {

void DumpOptions::describe(Options& options) {
  options.group("Input");
  options
      .add("-m,--model", model, "FILE", "the model: a file or a run directory",
           "Of a run directory its best model is taken, else its last.")
      .must();
  options.positional("FILE", files, "text, plain or gzip; standard input when left out");
  options.add("--target", target, "FILE", "translations to look at in place of the model's own",
              "Line n belongs to line n of the text.");
  options
      .add("--max-source", translator.max_source, "N", "pieces of the longest source",
           "The rest of a longer line is left out; a warning names the line. A record grows "
           "with the square of the length.")
      .range(1, 100000);
  options.flag("--strict", strict, "stop at the first line that is not valid UTF-8",
               "Otherwise such bytes are replaced by U+FFFD and counted.");
  selection.describe(options);
  options.group("Output");
  options.add("--digits", digits, "N", "decimal places of the weights").range(1, 9);
  options.flag(
      "--heatmap", heatmap, "draw the maps of each line in the terminal",
      "All that are selected, as by --layers 0-2 --heads 0-7. Without --kinds that is cross, "
      "without --layers the last layer, without --heads the mean over all heads.");
  options.add("--width", width, "N", "columns of a drawing")
      .range(20, 10000)
      .default_is("the terminal's");
  translator.search.describe_beam(options);
  translator.describe_machine(options);
}

void DumpOptions::check(const Options& options) const {
  if (!heatmap && options.given("width")) throw UsageError("--width belongs to --heatmap: add it");
  if (heatmap && options.given("digits")) {
    throw UsageError("--digits belongs to records: leave it or --heatmap out");
  }
  if (!target.empty()) SearchOptions::check_target(options, {"beam"});
  LinePairs::check(files, target);
}

}  // namespace tx
