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

void encode(const tx::DecodeOptions& s, tx::Writer& out, const tx::Log& log) {
  const tx::TranslatorOptions o = s.translator.resolved();
  if (o.models.size() > 1)
    throw tx::UsageError("--model is given " + std::to_string(o.models.size()) +
                         " times, but models of kind encoder are used one at a time: give one -m");
  const auto models = tx::ModelSet::load(tx::make_backend(o.device, o.threads), {o.models.front()},
                                         o.precision, o.max_source + 1);
  tx::LineEncoder encoder(*models, s.encoding, o);
  tx::TextReader in(s.files.empty() ? std::vector<std::string>{"-"} : s.files, s.strict);
  tx::encode_lines(in, encoder, s.encoding.vectors, out, log);
  for (const std::string& warning : in.warnings()) log.warn(warning);
}

// Translates, continues or scores the text.
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
    tx::translate_stream(in, translator, s.lines,
                         {out, status.get(), &progress, risk.rank(translator), aligner, &scored},
                         log);
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
    const tx::ModelKind kind = tx::kind_of_model(s.translator.models.front());
    s.check_models(options, kind);
    if (kind == tx::ModelKind::encoder)
      encode(s, out, log);
    else
      decode(s, alignments, risk, out, log);
    out.close();
    return 0;
  });
}
