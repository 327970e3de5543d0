#include "lib/attention/options.h"

#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/text/corpus.h"

namespace tx {

void DumpOptions::describe(Options& options) {
  // Only an encoder-decoder has translations and cross-attention.
  const auto of_both = of_kinds({ModelKind::encoder_decoder});
  const std::vector<Condition> averages = {{"--average", "heads"}, {"--average", "all"}};
  options.group("Input");
  options
      .add("-m,--model", translator.models, "FILE", "model file or run directory",
           "A run directory stands for its best model, or its last if there is no best.")
      .more("Several are supported only with --live.")
      .input()
      .goes_with({"--live"});
  options
      .add("--qkv", qkv, "FILE", "compute attention of the matrices in FILE, step by step",
           "FILE is JSON with the members q, k and v, and optionally mask and temperature; - is "
           "standard input. Prints scores, scaled and masked scores, weights and output as text, "
           "or with --format json as an object. See the section MATRICES.")
      .input()
      .is_mode("it needs no model and no text; only --out, --format and --digits go with it");
  options.positional("FILE", files, "text, plain or gzip", "With --live, sentences to choose from.")
      .or_standard_input("--live")
      .goes_with({"--live"});
  translator.describe_heads(options);
  options
      .add("--tgt", target, "FILE", "use these translations instead of the model's own",
           "Line n of FILE is the translation of line n of the text.")
      .input()
      .needs(of_both);
  options
      .add("--max-length", translator.max_source, "N", "cut sources to N tokens, with a warning",
           "A record grows with the square of the length.")
      .range(1, 100000);
  options
      .flag("--strict", strict, "stop at invalid UTF-8 and at text that is not in the vocabulary",
            "Otherwise invalid bytes become U+FFFD, text that has no token becomes <unk>, and both "
            "are counted in a warning.")
      .goes_with({"--live"});
  selection.describe(options);
  options.at("what").excludes({"--heatmap"}, "a map shows weights");
  options.group("Output");
  options.add("-o,--out", out, "FILE", "output file; - is standard output")
      .runtime()
      .output()
      .goes_with({"--qkv"})
      .excludes({"--html", "--svg"}, "a page or picture is written to its own FILE");
  options
      .add("--format", format, "json|safetensors|tsv", "output format; tsv is for --stats",
           "safetensors needs -o, and temporarily twice the disk space of its file.")
      .one_of({"json", "safetensors", "tsv"})
      .default_is("json, with --stats tsv, with --qkv text")
      .goes_with({"--qkv"})
      .excludes({"--heatmap"}, "a map is text");
  options.add("--dtype", dtype, "f32|f16", "number type of arrays")
      .one_of({"f32", "f16"})
      .needs({{"--format", "safetensors"}});
  options.add("--digits", digits, "N", "decimal places of numbers")
      .range(1, 9)
      .goes_with({"--qkv"})
      .excludes({"--heatmap", "--html", "--svg"}, "a map shows shades; digits are for records")
      .excludes({{"--format", "safetensors"}}, "its numbers are not rounded to digits")
      .excludes({"--align"});
  options.add("--top", selection.top, "N", "keep only the N largest entries of each row")
      .at_least(1)
      .default_is("all")
      .more("They are written as column indices and values, the largest first.")
      .excludes({"--heatmap"});
  options
      .add(
          "--stats", stats, "heads|pairs|scores|importance",
          "write statistics of heads over the text instead",
          "heads: entropy, mean distance and positions attended to; pairs: Jensen-Shannon distance "
          "of each pair of heads; scores: variance of the scores before and after division by "
          "sqrt(d_k); importance: the loss without each head and the gradient of its gate, in "
          "fp32.")
      .one_of({"heads", "pairs", "scores", "importance"})
      .excludes({"--heatmap", "--html", "--what", "--top"})
      .excludes(averages)
      .excludes({{"--format", "safetensors"}});
  options.at("shift").needs(of_kinds({ModelKind::encoder_decoder, ModelKind::decoder}));
  for (const char* name : {"words", "shift"})
    options.at(name)
        .excludes({{"--stats", "scores"}}, "scores are between tokens")
        .excludes({{"--stats", "importance"}}, "losses are of whole lines");
  options.at("shift").excludes({{"--stats", "pairs"}}, "it only moves rows");
  options
      .flag(
          "--align", align, "write token or word alignments instead, such as 0-0 1-2",
          "Uses the mean of the selected layers and heads of cross attention, by default all heads "
          "of the last layer.")
      .needs(of_both)
      .excludes({"--heatmap", "--html", "--stats", "--what", "--top", "--format"})
      .excludes(averages);
  options
      .add("--align-dev", align_dev, "FILE", "choose the head that aligns this text best",
           "Lines are source, target and links, separated by tabs. Of the selected heads, and "
           "their mean in each layer, the one with the lowest alignment error rate is used.")
      .input()
      .needs({"--align"});
  options.flag("--heatmap", heatmap, "draw the selected maps of each line in the terminal",
               "By default cross attention, last layer, mean over all heads.");
  options.add("--width", width, "N", "width of a drawing in columns")
      .range(20, 10000)
      .default_is("the terminal's")
      .needs({"--heatmap"});
  options
      .add("--color", color, "auto|always|never", "colours in a drawing",
           "auto: on a terminal, unless NO_COLOR is set.")
      .one_of({"auto", "always", "never"})
      .needs({"--heatmap"});
  options
      .add("--html", html, "FILE", "write an interactive HTML page instead",
           "By default the page shows every step of the computation; --what weights omits queries, "
           "keys and values, which makes it smaller.")
      .output()
      .goes_with({"--live"})
      .excludes({"--heatmap", {"--format", "safetensors"}, "--top", "--shift"})
      .excludes({"--words"}, "a page shows both tokens and words");
  options
      .add(
          "--html-limit", html_limit, "N", "maximum size of the sentences on the page in MB",
          "The page ends before the first sentence that does not fit, and reports it. With --live, "
          "the maximum size of the page; a larger one is an error.")
      .range(1, max_page_mb)
      .default_is("32, with --live 100")
      .goes_with({"--live"})
      .needs({"--html"});
  options
      .flag("--live", live, "write an HTML page that contains the model and runs it",
            "The page needs no server and no network. See the section A PAGE WITH THE MODEL.")
      .needs({"--html"})
      .is_mode(
          "the page runs the model on any text; only --model, FILE, --html, --html-limit, "
          "--weights and --strict go with it");
  options
      .add("--weights", weights, "int8|f16", "number type of the weights on the page",
           "int8 gives the results of tx-decode --precision int8. f16 takes twice the space.")
      .one_of({"int8", "f16"})
      .goes_with({"--live"})
      .needs({"--live"});
  options
      .add(
          "--svg", svg, "FILE", "draw a picture with lines between the two texts instead",
          "By default all heads of the last layer of cross-attention, or of the attention that the "
          "model has.")
      .output()
      .excludes({"--heatmap", "--html", "--stats", "--align", "--what", "--top"})
      .excludes({{"--format", "safetensors"}});
  options
      .add("--token", token, "TEXT|N", "draw only the lines of one query",
           "The text of a token or, with --words, of a word; or its number, from 0.")
      .needs({"--svg"});
  options.flag("--apart", apart, "one drawing per head").needs({"--svg"});
  translator.search.describe_beam(options);
  options.at("alpha").excludes({"--tgt"});
  for (const char* name : {"beam", "alpha", "max-extra"}) options.at(name).needs(of_both);
  translator.describe_machine(options);
}

int64_t DumpOptions::page_limit() const {
  return int64_t(html_limit > 0 ? html_limit : live ? 100 : 32) * 1'000'000;
}

void DumpOptions::check() const {
  if (translator.models.empty() && qkv.empty())
    throw UsageError("missing option: -m FILE (model file or run directory), or --qkv FILE");
  if (translator.models.size() > 1 && !live)
    throw UsageError("--model is given " + std::to_string(translator.models.size()) +
                     " times, but several models are supported only with --live: give one -m");
  if (!qkv.empty() && !format.empty() && format != "json")
    throw UsageError("--format " + format +
                     " is not supported with --qkv: give --format json, or leave it out for text");
  if (stats == "importance" && !translator.masked_heads.empty())
    throw UsageError(
        "--mask-heads cannot be used with --stats importance, which masks one at a time");
  if (format == "safetensors" && out == "-")
    throw UsageError("--format safetensors needs a file: give -o FILE");
  if (format == "tsv" && stats.empty()) throw UsageError("--format tsv needs --stats");
}

void DumpOptions::check_model(const Options& options) const {
  if (live) return;  // all kinds; its mode excludes the options of one kind
  const ModelKind kind = kind_of_model(model());
  const std::string name = "--model " + model();
  check_kind(options, kind, name);
  if (stats == "importance" && kind != ModelKind::encoder_decoder)
    throw UsageError("--stats importance needs a model of kind encoder-decoder: " + name +
                     " is of kind " + name_of_value(kind));
}

}  // namespace tx
