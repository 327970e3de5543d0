#include "lib/attention/options.h"

#include "lib/text/line_pairs.h"

namespace tx {

void DumpOptions::describe(Options& options) {
  options.group("Input");
  options
      .add("-m,--model", model, "FILE", "the model: a file or a run directory",
           "Of a run directory its best model is taken, else its last.")
      .must();
  options.positional("FILE", files, "text, plain or gzip; standard input when left out");
  options
      .add("--tgt", target, "FILE", "translations to look at in place of the model's own",
           "Line n belongs to line n of the text.")
      .was("--target");
  options
      .add("--max-length", translator.max_source, "N", "largest number of pieces per source",
           "The rest of a longer line is left out; a warning names the line. A record grows "
           "with the square of the length.")
      .range(1, 100000)
      .was("--max-source");
  options.flag("--strict", strict, "stop at the first line that is not valid UTF-8",
               "Otherwise such bytes are replaced by U+FFFD and counted.");
  selection.describe(options);
  options.at("what").excludes({"--heatmap"}, "a map shows weights");
  options.group("Output");
  options.add("--digits", digits, "N", "decimal places of the weights")
      .range(1, 9)
      .excludes({"--heatmap"}, "a map shows shades; digits are for records");
  options.flag(
      "--heatmap", heatmap, "draw the maps of each line in the terminal",
      "All that are selected, as by --layers 0-2 --heads 0-7. Without --kinds that is cross, "
      "without --layers the last layer, without --heads the mean over all heads.");
  options.add("--width", width, "N", "columns of a drawing")
      .range(20, 10000)
      .default_is("the terminal's")
      .needs({"--heatmap"});
  translator.search.describe_beam(options);
  options.at("alpha").excludes({"--tgt"});
  translator.describe_machine(options);
}

void DumpOptions::check() const { LinePairs::check(files, target); }

}  // namespace tx
