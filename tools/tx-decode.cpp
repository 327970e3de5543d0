// tx-decode: translate lines of text.
#include "kernels/backend.h"
#include "lib/base/error.h"
#include "lib/base/memory.h"
#include "lib/diagnose/invariance.h"
#include "lib/search/stream.h"

namespace {

constexpr char tool[] = "tx-decode";

struct Settings {
  tx::TranslatorOptions translator;
  tx::LineOptions lines;
  std::vector<std::string> files;
  std::string target, status;
  bool pieces = false, ids = false, strict = false, check_invariance = false, quiet = false;
};

void describe(tx::Options& options, Settings& s) {
  options.usage("tx-decode -m MODEL [OPTION]... < TEXT > TRANSLATIONS");
  options.version(tx::describe_backends);
  options.group("Input and output");
  s.translator.describe_models(options);
  options.positional("FILE", s.files, "text, plain or gzip; standard input when left out");
  options
      .flag("--pieces", s.pieces, "read and write pieces in place of text",
            "Lines are what tx-bpe encode prints and tx-bpe decode reads.")
      .excludes({"--ids"});
  options.flag("--ids", s.ids, "read and write the numbers of pieces").excludes({"--pieces"});
  options
      .flag("--scores", s.lines.scores, "print score, log P and translation, separated by tabs",
            "Both are natural logarithms; log P is that of the pieces and the end, the score is "
            "log P over the length penalty.")
      .excludes({"--check-invariance"});
  options
      .add("--tgt", s.target, "FILE", "score these translations in place of a search",
           "Line n belongs to line n of the text. For each the score, log P and the translation "
           "are printed, as with --scores; it is cut as the model cuts it into pieces.")
      .was("--target");
  options
      .add("--max-length", s.translator.max_source, "N", "largest number of pieces per source",
           "The rest of a longer line is not translated; a warning names the line.")
      .range(1, 100000)
      .was("--max-source");
  options.flag("--strict", s.strict, "stop at the first line that is not valid UTF-8",
               "Otherwise such bytes are replaced by U+FFFD and counted.");
  options
      .add("--status", s.status, "FILE|FD", "write a record for each line to a file or descriptor",
           "See tx-status(5).")
      .excludes({"--check-invariance"}, "there are no translations to record");
  options.flag(
      "--check-invariance", s.check_invariance,
      "translate the text in several ways and compare, instead of printing it",
      "Each line alone, in reverse order, in random batches, with other numbers of workers and "
      "threads; pieces and scores must be the same bits. The last line of the report is the "
      "verdict; where a line differs, the status is 1 and the line is named. It takes five times "
      "as long, and memory for the whole text.");
  options.flag(
      "-q,--quiet", s.quiet, "no progress on a terminal",
      "Otherwise a terminal shows how many lines are done, where the input is a file and the "
      "output goes elsewhere.");
  s.translator.search.describe(options);
  s.translator.describe_machine(options);
  s.translator.describe_memory(options);
}

void resolve(const tx::Options& options, Settings& s) {
  if (s.pieces) s.lines.form = tx::LineForm::pieces;
  if (s.ids) s.lines.form = tx::LineForm::ids;
  s.lines.list = options.given("nbest");
  s.translator.search.check();
  if (!s.target.empty()) s.translator.search.forced_target = s.lines.scores = true;
  tx::LinePairs::check(s.files, s.target);
  if (!s.translator.memory.empty()) tx::parse_size(s.translator.memory, "--memory");
}

}  // namespace

int main(int argc, char** argv) {
  return tx::run_tool(tool, [&] {
    Settings s;
    tx::Options options(tool, "translate lines of text");
    describe(options, s);
    if (!options.parse(argc, argv)) return 0;
    resolve(options, s);

    const tx::Log log(tool, s.quiet);
    tx::limit_threads(s.translator.threads, log);
    const tx::Translator translator(s.translator);
    tx::LinePairs in(s.files, s.target, s.strict);
    const auto status = tx::open_status(s.status);  // which empties it, so that this comes last
    tx::Writer out("-");
    if (s.check_invariance) {
      out.write(tx::check_invariance(in, translator, s.lines, log));
    } else {
      tx::LineProgress progress(s.files, log);
      tx::translate_stream(in, translator, s.lines, {out, status.get(), &progress}, log);
    }
    out.close();
    if (status) status->close();
    for (const std::string& warning : in.warnings()) log.warn(warning);
    return 0;
  });
}
