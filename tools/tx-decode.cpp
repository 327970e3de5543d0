// tx-decode: translate, continue or score text.
#include "kernels/backend.h"
#include "lib/attention/alignment.h"
#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/diagnose/translation.h"
#include "lib/search/lines/decode_options.h"
#include "lib/search/lines/minimum_risk.h"
#include "lib/search/lines/stream.h"

namespace {

constexpr char tool[] = "tx-decode";

// Translates, continues, scores or encodes the text.
void decode(const tx::DecodeOptions& s, const tx::OutputAlignments& alignments,
            const tx::MinimumRisk& risk, tx::Writer& out, const tx::Log& log) {
  const tx::Translator translator(s.translator);
  tx::LinePairs in(s.files, s.second_text(), s.strict);
  const auto aligner = alignments.column(translator);
  const auto status = tx::open_status(s.status);  // last, because it truncates the file
  if (!s.compare.empty()) {
    const tx::Translator other(s.compared());
    out.write(tx::compare_translators(in, translator, other, s.lines, log));
  } else if (s.check_invariance) {
    out.write(tx::check_invariance(in, translator, s.lines, log));
  } else if (s.live(translator)) {
    tx::continue_live(in, translator, s.lines, out, log);
  } else {
    tx::LineProgress progress(s.files, log);
    tx::ScoredText scored;
    std::unique_ptr<tx::VectorFile> vectors;
    if (!s.vectors.empty())
      vectors = std::make_unique<tx::VectorFile>(s.vectors, translator.models());
    std::function<std::vector<int64_t>(const tx::Source&, const tx::TokenHypothesis&)> tokens;
    if (s.lines.markup || s.lines.glossary) tokens = tx::OutputAlignments::of_tokens(translator);
    tx::translate_stream(in, translator, s.lines,
                         {out, status.get(), &progress, risk.rank(translator), aligner, tokens,
                          &scored, vectors.get()},
                         log);
    if (vectors) vectors->close();
    if (s.lines.perplexity) tx::Log(tool).info(tx::describe_scored(scored));  // even with -q
  }
  if (status) status->close();
  for (const std::string& warning : in.warnings()) log.warn(warning);
}

}  // namespace

int main(int argc, char** argv) {
  return tx::run_tool(tool, [&] {
    tx::DecodeOptions s;
    tx::Options options(tool, "translate, continue or score text");
    options.version(tx::describe_backends);
    s.describe(options);
    tx::OutputAlignments alignments;
    alignments.describe(options);
    tx::MinimumRisk risk;
    risk.describe(options);
    s.describe_machine(options);
    const auto defaults = [&] { return s.set_defaults(options), std::vector<std::string>(); };
    if (!options.parse(argc, argv, defaults)) return 0;
    s.resolve(options);
    risk.resolve(s.translator.search);
    alignments.check(s.translator);

    tx::Writer out("-");
    if (s.describe_only) {
      out.write(s.description());
      out.close();
      return 0;
    }
    const tx::Log log(tool, s.quiet);
    tx::limit_threads(s.translator.threads, log);
    s.check_models(options, tx::kind_of_model(s.translator.models.front()));
    decode(s, alignments, risk, out, log);
    out.close();
    return 0;
  });
}
