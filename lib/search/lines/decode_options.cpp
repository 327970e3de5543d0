#include "lib/search/lines/decode_options.h"

#include <unistd.h>

#include "lib/base/error.h"
#include "lib/base/resources.h"
#include "lib/checkpoint/model_file.h"
#include "lib/text/corpus.h"

namespace tx {

void DecodeOptions::describe(Options& options) {
  options.usage("tx-decode -m MODEL [OPTION]... < TEXT > TRANSLATIONS");
  options.usual(
      "model tgt source-language target-language split markup scores json quiet prefix constraints "
      "beam "
      "alpha nbest sample no-repeat forbid seed temperature alignments top-p max-new stop "
      "stream embed perplexity threads device precision describe");
  describe_input(options);
  describe_output(options);
  describe_forced_output(options);
  translator.search.describe(options);
  describe_continuation(options);
  describe_encoding(options);
  describe_checks(options);
}

void DecodeOptions::describe_machine(Options& options) {
  translator.describe_machine(options);
  translator.describe_memory(options);
  const auto searching = of_kinds({ModelKind::encoder_decoder, ModelKind::decoder});
  for (const char* name : {"mask-heads", "memory"}) options.at(name).needs(searching);
}

void DecodeOptions::describe_input(Options& options) {
  const auto translating = of_kinds({ModelKind::encoder_decoder});
  const auto searching = of_kinds({ModelKind::encoder_decoder, ModelKind::decoder});
  options.group("Input");
  translator.describe_models(options);
  options.positional("FILE", files, "text, plain or gzip").or_standard_input();
  options.flag("--pieces", tokens, "read and write tokens, as tx-bpe encode prints them, not text")
      .needs(searching)
      .excludes({"--ids"});
  options.flag("--ids", ids, "read and write token ids instead of text")
      .needs(searching)
      .excludes({"--pieces"});
  options
      .add("--tgt", target, "FILE", "score these translations instead of searching",
           "Line n of FILE is the translation of line n of the text. The output is that of "
           "--scores.")
      .input()
      .needs(searching);
  translator.describe_languages(options);
  translator.describe_length(options);
  options
      .add(
          "--split", lines.split, "N", "split lines of more than N tokens into sentences; 0: off",
          "Tags such as >>fra<< go to every part. The translations are joined with the white space "
          "between the sentences. log P is their sum, and the score is this sum divided by the "
          "length penalty of the whole output.")
      .range(0, 100000)
      .needs(translating)
      .excludes({"--tgt", "--sample", "--prefix", "--constraints", "--constraints-file", "--pieces",
                 "--ids", "--word-scores", "--alignments", "--check-invariance", "--compare"},
                "it translates the parts of a line separately");
  options
      .add("--markup", markup, "html|printf|icu|FILE",
           "keep tags, placeholders, URLs and e-mail addresses unchanged",
           "html: tags, comments and entities, of XML, too; printf: %s, %1$d, %(name)s; icu: "
           "{name}; "
           "FILE: what matches one of its regular expressions, one a line. An output has each part "
           "of its line once, with tags nested, where the alignment says.")
      .needs(translating)
      .excludes({"--tgt", "--prefix", "--constraints", "--constraints-file", "--pieces", "--ids",
                 "--perplexity", "--word-scores", "--alignments", "--check-invariance",
                 "--compare"});
  options
      .add("--latency-ms", lines.latency_ms, "N", "wait up to N ms to fill a batch",
           "For input that arrives line by line; larger batches are faster.")
      .range(0, 60000)
      .needs(searching)
      .excludes({"--check-invariance"});
  options.flag("--strict", strict,
               "stop at invalid UTF-8 and at text that is not in the vocabulary",
               "Otherwise invalid bytes become U+FFFD, text that has no token becomes <unk>, and "
               "both are counted in a warning.");
}

void DecodeOptions::describe_output(Options& options) {
  const auto searching = of_kinds({ModelKind::encoder_decoder, ModelKind::decoder});
  options.group("Output");
  options
      .flag("--scores", lines.scores, "print score, log P and output, separated by tabs",
            "log P is the natural logarithm of the probability of the output's tokens and its end; "
            "the score is log P divided by the length penalty.")
      .needs(searching)
      .excludes({"--check-invariance"});
  options
      .flag("--word-scores", lines.word_scores, "append a column with log P of each word",
            "Values are separated by spaces and sum to log P; the last is that of the end, if the "
            "output has one. With --pieces or --ids there is one value per token.")
      .needs(searching)
      .excludes({"--check-invariance"});
  options
      .flag("--json", lines.json, "print a JSON object per line, with tokens and log P of each",
            "The section OUTPUT lists its keys.")
      .needs(searching)
      .excludes({"--check-invariance", "--scores"}, "the object holds the scores");
  options
      .flag("--perplexity", lines.perplexity, "score the text, and print its perplexity",
            "Scores the translations of --tgt or, without it, lines of SOURCE, a tab and TARGET; a "
            "language model scores whole lines or, with --tgt, continuations. Prints each line as "
            "--scores does and, on standard error, the perplexity per token of all lines, counting "
            "each end as a token.")
      .needs(searching)
      .excludes({"--echo", "--sample", "--stop", "--diversity", "--min-length", "--no-repeat",
                 "--forbid", "--shortlist", "--prefix", "--constraints", "--constraints-file",
                 "--split", "--compare"});
  options
      .add("--status", status, "FILE|FD", "write a record per line, see tx-status(5)",
           "FD is the number of an open file descriptor.")
      .output()
      .needs(searching)
      .excludes({"--check-invariance"}, "there are no translations to record");
  options.flag("-q,--quiet", quiet, "no progress on a terminal, no summary of suspicious outputs")
      .goes_with({"--describe"});
}

void DecodeOptions::describe_forced_output(Options& options) {
  const auto translating = of_kinds({ModelKind::encoder_decoder});
  options.group("Forced output");
  options
      .flag("--prefix", translator.search.prefix,
            "read a second column: the beginning of the output",
            "Columns are separated by tabs. An empty or missing second column forces nothing.")
      .needs(translating)
      .excludes({"--tgt"});
  options
      .flag("--constraints", translator.search.constraints,
            "read further columns: phrases that the output must contain",
            "A line is TEXT, with --prefix the beginning of the output, and any number of phrases, "
            "separated by tabs.")
      .needs(translating)
      .excludes({"--tgt", "--sample", "--diversity"});
  options
      .add("--constraints-file", phrases, "FILE", "read the phrases for line n from line n of FILE",
           "Phrases are separated by tabs; an empty line has none.")
      .input()
      .needs(translating)
      .excludes({"--tgt", "--sample", "--diversity", "--constraints"});
  options
      .add("--glossary", glossary, "FILE", "translate terms as FILE says",
           "A line is TERM, a tab, TRANSLATION and maybe a tab and a text that the line must "
           "contain; | separates forms of the translation of which the output needs one.")
      .input()
      .needs(translating)
      .excludes({"--tgt", "--sample", "--diversity", "--alternatives", "--prefix", "--constraints",
                 "--constraints-file", "--pieces", "--ids", "--perplexity", "--check-invariance",
                 "--compare"});
}

void DecodeOptions::describe_checks(Options& options) {
  const auto searching = of_kinds({ModelKind::encoder_decoder, ModelKind::decoder});
  options.group("Checks");
  options
      .flag("--describe", describe_only, "list the weights of the model and exit",
            "For each weight: shape, type in the file (fp32, bf16 or int8), use and bytes; then "
            "the total of each type, and what a converted model was taken to be. Only -m may be "
            "given with it.")
      .is_mode("give only --model with it");
  options.at("model").goes_with({"--describe"});
  options
      .flag("--check-invariance", check_invariance,
            "check that translations are batch-invariant, and print a report",
            "Translates the text in batches, line by line, in reverse order, and in random batches "
            "with other numbers of workers and threads, and compares tokens and scores bit by bit. "
            "The last line of the report is the result; if there is a difference, the exit status "
            "is 1. Takes five times as long and holds the text in memory.")
      .needs(searching);
  options
      .add("--compare", compare, "FILE", "compare translations with those of a second model",
           "Prints a report instead of translations: the share of equal lines, BLEU of the first "
           "model's translations against those of FILE, the mean difference of log P, and the "
           "lines where log P differs most. All other options apply to both models. Holds the text "
           "in memory.")
      .input()
      .needs(searching)
      .excludes({"--tgt", "--scores", "--word-scores", "--alignments", "--json", "--nbest",
                 "--echo", "--latency-ms", "--sample", "--status", "--check-invariance"});
  options.add("--compare-precision", compare_precision, "precision of the second model")
      .needs({"--compare"});
  translator.describe_heads(options);
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

// After the options of the search, which begin this group.
void DecodeOptions::describe_continuation(Options& options) {
  for (const char* name : {"beam", "nbest"}) options.at(name).excludes({"--perplexity"});
  options.group("Language models");
  options.flag("--echo", lines.echo, "print the prompt before its continuation")
      .excludes({"--tgt"});
  options
      .flag("--stream", stream, "print each token as soon as it is generated",
            "Prompts are continued one after another. Needs --beam 1 or --sample; with either it "
            "is the default on a terminal.")
      .excludes({"--tgt", "--perplexity", "--scores", "--word-scores", "--json", "--pieces",
                 "--ids", "--status", "--latency-ms", "--compare", "--check-invariance"});
}

void DecodeOptions::describe_encoding(Options& options) {
  options.group("Encoder models").needs(of_kinds({ModelKind::encoder}));
  options.at("nbest").excludes({"--embed"}, "a line has one vector");
  options
      .add("--embed", embed, "mean|first", "print a vector for each line",
           "mean: the mean of the last layer over the tokens; first: the last layer at <s>, which "
           "precedes them. The numbers are separated by tabs.")
      .one_of({"mean", "first"});
  options
      .add("--vectors", vectors, "FILE", "write the vectors to a safetensors file instead",
           "One f32 array, vectors, with a row per line; zeros for a blank line.")
      .runtime()
      .output()
      .needs({"--embed"});
}

void DecodeOptions::check_models(const Options& options, ModelKind kind) {
  if (kind == ModelKind::encoder && translator.models.size() > 1)
    throw UsageError("--model is given " + std::to_string(translator.models.size()) +
                     " times, but models of kind encoder are used one at a time: give one -m");
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

void DecodeOptions::set_defaults(Options& options) {
  const std::string model = translator.models.empty() ? "" : translator.models.front();
  if (describe_only || !names_model(model)) return;  // reported later
  translator.search.set_defaults(options, defaults_of_model(model), model,
                                 [&] { options.check(); });
}

void DecodeOptions::resolve(const Options& options) {
  if (stream && !one_hypothesis())
    throw UsageError(
        "--stream needs --beam 1, or --sample without --nbest: the best of several hypotheses is "
        "known only at the end");
  lines.stops = translator.search.stops;
  if (!markup.empty()) lines.markup = std::make_shared<Markup>(markup);
  if (!glossary.empty()) {
    lines.glossary = std::make_shared<Terminology>(glossary);
    translator.search.prefix = true;  // of second translations
  }
  if (!embed.empty()) lines.encoding = embed == "mean" ? Encoding::mean : Encoding::first;
  if (tokens) lines.form = LineForm::tokens;
  if (ids) lines.form = LineForm::ids;
  lines.list = options.given("nbest") || options.given("alternatives");
  if (!phrases.empty()) translator.search.constraints = true;
  if (lines.perplexity || !target.empty()) translator.search.forced_target = lines.scores = true;
  if (lines.split > 0 && lines.list)
    throw UsageError(
        "--split cannot be used with --nbest: it translates the parts of a line separately");
  if (!translator.memory.empty()) parse_size(translator.memory, "--memory");
}

}  // namespace tx
