#include "lib/attention/options.h"

#include "lib/base/error.h"
#include "lib/checkpoint/model_kind.h"
#include "lib/text/line_pairs.h"

namespace tx {

void DumpOptions::describe(Options& options) {
  // A language model translates nothing, and its text attends to itself alone.
  const auto of_both = of_kinds({ModelKind::encoder_decoder});
  options.group("Input");
  options
      .add("-m,--model", model, "FILE", "the model: a file or a run directory",
           "Of a run directory its best model is taken, else its last.")
      .must()
      .input();
  options.positional("FILE", files, "text, plain or gzip; standard input when left out").input();
  translator.describe_heads(options);
  options
      .add("--tgt", target, "FILE", "translations to look at in place of the model's own",
           "Line n belongs to line n of the text.")
      .input()
      .needs(of_both);
  options
      .add("--max-length", translator.max_source, "N", "largest number of pieces per source",
           "The rest of a longer line is left out; a warning names the line. A record grows "
           "with the square of the length.")
      .range(1, 100000);
  options.flag("--strict", strict, "stop at the first line that is not valid UTF-8",
               "Otherwise such bytes are replaced by U+FFFD and counted.");
  selection.describe(options);
  options.at("what").excludes({"--heatmap"}, "a map shows weights");
  options.group("Output");
  options.add("-o,--out", out, "FILE", "where the records go; - is standard output")
      .runtime()
      .output()
      .excludes({"--html", "--svg"}, "a page or picture has a file of its own");
  options
      .add("--format", format, "json|safetensors|tsv",
           "JSON Lines, one file of arrays, or of statistics a table",
           "safetensors needs -o: its header stands in front and lists every array, so all are "
           "kept in temporary files beside it until the text has ended.")
      .one_of({"json", "safetensors", "tsv"})
      .default_is("json, with --stats tsv")
      .excludes({"--heatmap"}, "a map is text");
  options.add("--dtype", dtype, "f32|f16", "numbers of arrays")
      .one_of({"f32", "f16"})
      .needs({"--format safetensors"});
  options.add("--digits", digits, "N", "decimal places of weights and statistics")
      .range(1, 9)
      .excludes({"--heatmap", "--html", "--svg"}, "a map shows shades; digits are for records")
      .excludes({"--format safetensors"}, "its numbers are not rounded to digits")
      .excludes({"--align"});
  options.add("--top", selection.top, "N", "of each row only its N largest entries")
      .at_least(1)
      .default_is("all")
      .more("As indices of columns and values, the largest first.")
      .excludes({"--heatmap"});
  options
      .add("--stats", stats, "heads|pairs|importance",
           "statistics over the text in place of records",
           "heads: a line for each head, of its entropy, mean distance, and where its weights go. "
           "pairs: a line for each pair of heads of a kind, of their Jensen-Shannon distance. "
           "importance: a line for each head, of the loss without it and the gradient of its gate; "
           "the text is held in memory, and a pass is made for each head.")
      .one_of({"heads", "pairs", "importance"})
      .excludes({"--heatmap", "--html", "--what", "--top", "--average heads", "--average all",
                 "--format safetensors"});
  options
      .flag(
          "--align", align, "alignments in place of records: a line such as 0-0 1-2",
          "The source piece, or with --words the word, that each target one has the largest weight "
          "for, as SOURCE-TARGET, counted from 0; </s> is left out. From cross, as the mean over "
          "the layers and heads selected, by default all heads of the last layer.")
      .needs(of_both)
      .excludes({"--heatmap", "--html", "--stats", "--what", "--top", "--format", "--average heads",
                 "--average all"});
  options
      .add("--align-dev", align_dev, "FILE", "text with alignments to choose the head by",
           "Lines of source, target and links with tabs between. Of the heads selected, and their "
           "mean in each layer, the one is taken whose links have the lowest alignment error rate.")
      .input()
      .needs({"--align"});
  options.flag(
      "--heatmap", heatmap, "draw the maps of each line in the terminal",
      "All that are selected, as by --layers 0-2 --heads 0-7. Without --kinds that is cross, "
      "without --layers the last layer, without --heads the mean over all heads.");
  options.add("--width", width, "N", "columns of a drawing")
      .range(20, 10000)
      .default_is("the terminal's")
      .needs({"--heatmap"});
  options
      .add("--color", color, "auto|always|never", "colours in a drawing",
           "auto has them on a terminal, unless NO_COLOR is set.")
      .one_of({"auto", "always", "never"})
      .needs({"--heatmap"});
  options
      .add("--html", html, "FILE", "write a page to look at in a browser instead",
           "One file, which needs no network: lines between the texts, matrices, all heads side by "
           "side, and the steps from queries and keys to the weighted sum. What is selected is in "
           "it, by default everything; --what weights makes it smaller and leaves the steps out.")
      .output()
      .needs(of_both)
      .excludes({"--heatmap", "--format safetensors", "--top", "--shift"})
      .excludes({"--words"}, "a page shows both, pieces and words");
  options
      .add("--html-limit", html_limit, "N", "largest size of the sentences of a page, in MB",
           "Sentences that do not fit are left out, from the first such one on; the page says so.")
      .range(1, 1000)
      .needs({"--html"});
  options
      .add("--svg", svg, "FILE", "draw lines between the two texts, a colour for each head",
           "A picture for papers and talks, as Figures 3 to 5 of Vaswani et al. (2017). Without "
           "--kinds it is of cross, without --layers of the last layer. Lines of text, kinds and "
           "layers stand below one another.")
      .output()
      .needs(of_both)
      .excludes(
          {"--heatmap", "--html", "--stats", "--align", "--what", "--top", "--format safetensors"});
  options
      .add("--token", token, "TEXT|N", "only the lines from this token",
           "The text of a piece or, with --words, of a word; or its number, from 0.")
      .needs({"--svg"});
  options.flag("--apart", apart, "a drawing for each head").needs({"--svg"});
  translator.search.describe_beam(options);
  options.at("alpha").excludes({"--tgt"});
  for (const char* name : {"beam", "alpha", "max-extra"}) options.at(name).needs(of_both);
  translator.describe_machine(options);
}

void DumpOptions::check() const {
  if (stats == "importance" && !translator.masked_heads.empty())
    throw UsageError("--mask-heads does not go with --stats importance, which masks one at a time");
  LinePairs::check(files, target);
  if (format == "safetensors" && out == "-")
    throw UsageError("--format safetensors is written to a file: name it with -o");
  if (format == "tsv" && stats.empty()) throw UsageError("--format tsv is for --stats; add it");
}

void DumpOptions::check_model(const Options& options) const {
  const ModelKind kind = kind_of_model(model);
  const std::string name = "--model " + model;
  check_kind(options, kind, name);
  if (stats == "importance" && kind == ModelKind::decoder)
    throw UsageError("--stats importance needs a model of kind encoder-decoder: " + name +
                     " is of kind decoder");
}

}  // namespace tx
