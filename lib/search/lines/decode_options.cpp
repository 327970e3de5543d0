#include "lib/search/lines/decode_options.h"

#include <unistd.h>

#include "lib/base/error.h"
#include "lib/base/memory.h"
#include "lib/checkpoint/describe_file.h"
#include "lib/checkpoint/model_kind.h"
#include "lib/text/line_pairs.h"

namespace tx {

void DecodeOptions::describe(Options& options) {
  const auto translating = of_kinds({ModelKind::encoder_decoder});
  const auto searching = of_kinds({ModelKind::encoder_decoder, ModelKind::decoder});
  options.usage("tx-decode -m MODEL [OPTION]... < TEXT > TRANSLATIONS");
  options.group("Input and output");
  translator.describe_models(options);
  options.positional("FILE", files, "text, plain or gzip; standard input when left out").input();
  options
      .flag("--pieces", pieces, "read and write pieces in place of text",
            "Lines are what tx-bpe encode prints and tx-bpe decode reads.")
      .needs(searching)
      .excludes({"--ids"});
  options.flag("--ids", ids, "read and write the numbers of pieces")
      .needs(searching)
      .excludes({"--pieces"});
  options
      .flag("--scores", lines.scores, "print score, log P and translation, separated by tabs",
            "Both are natural logarithms; log P is that of the pieces and the end, the score is "
            "log P over the length penalty.")
      .needs(searching)
      .excludes({"--check-invariance"});
  options
      .flag("--word-scores", lines.word_scores, "print log P of each word behind the translation",
            "After a tab, with spaces between; the last one is that of the end, where the output "
            "has one, and they add up to log P. With --pieces and --ids they are those of pieces.")
      .needs(searching)
      .excludes({"--check-invariance"});
  options
      .flag("--json", lines.json, "print a JSON object for each line",
            "With text, score, log P, pieces, log P of each piece, and states as --status has "
            "them; with --nbest a list of outputs, with --word-scores words, with --alignments "
            "links.")
      .needs(searching)
      .excludes({"--check-invariance", "--scores"}, "the object holds the scores");
  options
      .add("--tgt", target, "FILE", "score these translations in place of a search",
           "Line n belongs to line n of the text. For each the score, log P and the translation "
           "are printed, as with --scores; it is cut as the model cuts it into pieces.")
      .input()
      .needs(searching);
  options
      .flag("--prefix", lines.prefix, "lines are TEXT, a tab, and what the output begins with",
            "The beginning is cut into pieces as the model cuts it, is forced, and counts in score "
            "and log P like the rest. Nothing behind the tab, or no tab, forces nothing.")
      .needs(translating)
      .excludes({"--tgt"});
  options
      .flag(
          "--constraints", lines.constraints, "further columns are phrases that the output holds",
          "Lines are TEXT, with --prefix a tab and the beginning, and any number of phrases, a tab "
          "before each. A beam of more than the pieces of all phrases finds better places for "
          "them; an output cut at its longest length may lack some.")
      .needs(translating)
      .excludes({"--tgt", "--sample", "--diversity"});
  options
      .add("--constraints-file", phrases, "FILE", "line n holds phrases that output n holds",
           "With tabs between, any number on a line, none on an empty one; otherwise as "
           "--constraints, which has them in the lines of the text.")
      .input()
      .needs(translating)
      .excludes({"--tgt", "--sample", "--diversity", "--constraints"});
  translator.describe_languages(options);
  translator.describe_length(options);
  options
      .add("--split", lines.split, "N", "translate longer lines than N pieces sentence by sentence",
           "They are split behind . ! ? and the like where a space and no small letter follows, "
           "and their translations are joined by spaces; log P is the sum, and the score that over "
           "the length penalty of the whole.")
      .range(0, 100000)
      .needs(translating)
      .excludes({"--tgt", "--sample", "--prefix", "--constraints", "--constraints-file", "--pieces",
                 "--ids", "--word-scores", "--alignments", "--check-invariance"},
                "it joins translations of a line's parts");
  options
      .add("--latency-ms", lines.latency_ms, "N", "gather lines for so long once one has come",
           "From a pipe whose lines come one by one, so that they are translated together, which "
           "is faster; what has come is translated when N milliseconds are over.")
      .range(0, 60000)
      .needs(searching)
      .excludes({"--check-invariance"});
  translator.describe_heads(options);
  options.flag("--strict", strict, "stop at the first line that is not valid UTF-8",
               "Otherwise such bytes are replaced by U+FFFD and counted.");
  options
      .add("--status", status, "FILE|FD", "write a record for each line to a file or descriptor",
           "See tx-status(5).")
      .output()
      .needs(searching)
      .excludes({"--check-invariance"}, "there are no translations to record");
  options
      .flag(
          "--check-invariance", check_invariance,
          "translate the text in several ways and compare, instead of printing it",
          "Each line alone, in reverse order, in random batches, with other numbers of workers and "
          "threads; pieces and scores must be the same bits. The last line of the report is the "
          "verdict; where a line differs, the status is 1 and the line is named. It takes five "
          "times as long, and memory for the whole text.")
      .needs(searching);
  options
      .flag("--describe", describe_only, "print what the model file holds, and translate nothing",
            "A line for each weight with its shape, its form in the file (fp32, bf16, int8), what "
            "it is read for and its bytes, then the sums of each form. It goes with --model alone.")
      .is_mode("it goes with --model alone");
  options.at("model").goes_with({"--describe"});
  options
      .add("--compare", compare, "FILE",
           "translate the text with this model too and say how far the two lie apart",
           "Instead of translations a report is printed: the share of equal lines, BLEU of the "
           "first model's translations against those of this one, and the lines whose log P differ "
           "most. It shows what 8-bit weights cost on a text of yours. All other options hold for "
           "both models. The whole text is held in memory.")
      .input()
      .needs(searching)
      .excludes({"--tgt", "--scores", "--sample", "--status", "--check-invariance"});
  options
      .add("--compare-precision", compare_precision, "auto|int8|bf16|fp32",
           "--precision of the model to compare with")
      .one_of({"auto", "int8", "bf16", "fp32"})
      .needs({"--compare"});
  options
      .flag("-q,--quiet", quiet, "no progress on a terminal, no counts of odd outputs at the end",
            "Otherwise a terminal shows how many lines are done, where the input is a file and the "
            "output goes elsewhere.")
      .goes_with({"--describe"});
  translator.search.describe(options);
  describe_continuation(options);
  describe_encoding(options);
  translator.describe_machine(options);
  translator.describe_memory(options);
  for (const char* name : {"mask-heads", "memory"}) options.at(name).needs(searching);
}

std::string DecodeOptions::description() const {
  std::string text;
  for (const std::string& path : translator.models)
    text += describe_file(ModelReader(resolve_model(path)));
  return text;
}

TranslatorOptions DecodeOptions::compared() const {
  TranslatorOptions other = translator;
  other.models = {compare};
  other.precision = compare_precision;
  return other;
}

// Behind the options of the search, whose group of that name goes on.
void DecodeOptions::describe_continuation(Options& options) {
  options.group("Continuation of a text, by models of kind decoder");
  options.flag("--echo", lines.echo, "print each line in front of its continuation")
      .excludes({"--tgt"});
  options
      .flag("--perplexity", perplexity, "score the lines instead of continuing them",
            "For each the score, log P and the text are printed, as with --scores; at the end the "
            "perplexity per piece of all, ends of lines counted, on standard error.")
      .excludes({"--tgt", "--echo", "--sample", "--stop", "--diversity", "--min-length",
                 "--no-repeat", "--forbid", "--compare"});
  options
      .flag("--stream", stream, "write each piece as soon as it is known",
            "Lines are continued one after another then. On a terminal this is usual where the "
            "search has one output at a time: with --beam 1, and with --sample.")
      .excludes({"--tgt", "--perplexity", "--scores", "--word-scores", "--json", "--pieces",
                 "--ids", "--status", "--latency-ms", "--compare", "--check-invariance"});
  for (const char* name : {"beam", "nbest"}) options.at(name).excludes({"--perplexity"});
}

bool DecodeOptions::one_hypothesis() const {
  const SearchOptions& search = translator.search;
  return search.nbest == 1 && (search.sample || search.beam == 1);
}

void DecodeOptions::describe_encoding(Options& options) {
  options.group("Vectors and masks, by models of kind encoder")
      .needs(of_kinds({ModelKind::encoder}));
  options.at("nbest").excludes({"--embed"}, "a line has one vector");
  options
      .add(
          "--embed", encoding.embed, "mean|first", "write a vector of each line",
          "mean: of the last layer's rows of the pieces. first: its row of <s>, which stands in "
          "front. Numbers with tabs between. Without it <mask> in a line is filled, --nbest times: "
          "the line so filled is printed, then for each mask pieces and probabilities.")
      .one_of({"mean", "first"});
  options
      .add("--vectors", encoding.vectors, "FILE", "write the vectors to a safetensors file instead",
           "One array, vectors, in f32, with a row for each line; zeros for a blank one.")
      .runtime()
      .output()
      .needs({"--embed"});
}

void DecodeOptions::check_models(const Options& options, ModelKind kind) {
  check_kind(options, kind, "--model " + translator.models.front());
  if (kind == ModelKind::encoder) return;
  if (!compare.empty() && kind_of_model(compare) != kind)
    throw UsageError("--compare " + compare + " is not of kind " + name_of_value(kind) + ", as " +
                     translator.models.front() + " is");
  translator.search.check();
}

bool DecodeOptions::live(const Translator& model) const {
  if (stream) return true;
  return model.continues() && one_hypothesis() && !lines.scores && !lines.list &&
         !lines.word_scores && !lines.json && lines.form == LineForm::text && status.empty() &&
         ::isatty(STDOUT_FILENO) != 0;
}

void DecodeOptions::resolve(const Options& options) {
  if (stream && !one_hypothesis())
    throw UsageError(
        "--stream needs --beam 1, or --sample without --nbest: among several outputs the best is "
        "known at the end");
  lines.stops = translator.search.stops;
  if (perplexity) translator.search.forced_target = lines.scores = lines.whole = true;
  if (pieces) lines.form = LineForm::pieces;
  if (ids) lines.form = LineForm::ids;
  lines.list = options.given("nbest");
  translator.search.prefix = lines.prefix;
  lines.phrases_beside = !phrases.empty();
  translator.search.constraints = lines.constraints || lines.phrases_beside;
  if (!target.empty()) translator.search.forced_target = lines.scores = true;
  if (lines.split > 0 && lines.list)
    throw UsageError("--split does not go with --nbest: it joins translations of a line's parts");
  LinePairs::check(files, beside());
  encoding.nbest = translator.search.nbest;
  encoding.max_length = translator.max_source;
  if (translator.batch_tokens > 0) encoding.batch_tokens = translator.batch_tokens;
  encoding.strict = strict;
  if (!translator.memory.empty()) parse_size(translator.memory, "--memory");
}

}  // namespace tx
