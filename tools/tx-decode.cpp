// tx-decode: translate lines of text.
#include "kernels/backend.h"
#include "lib/attention/alignment.h"
#include "lib/diagnose/compare.h"
#include "lib/diagnose/invariance.h"
#include "lib/rerank/minimum_risk.h"
#include "lib/search/decode_options.h"
#include "lib/search/stream.h"

namespace {

constexpr char tool[] = "tx-decode";

}  // namespace

int main(int argc, char** argv) {
  return tx::run_tool(tool, [&] {
    tx::DecodeOptions s;
    tx::Options options(tool, "translate lines of text");
    options.version(tx::describe_backends);
    s.describe(options);
    tx::OutputAlignments alignments;
    alignments.describe(options);
    tx::MinimumRisk risk;
    risk.describe(options);
    if (!options.parse(argc, argv)) return 0;
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
    const tx::Translator translator(s.translator);
    tx::LinePairs in(s.files, s.target, s.strict);
    const auto aligner = alignments.column(translator);
    const auto status = tx::open_status(s.status);  // which empties it, so that this comes last
    if (!s.compare.empty()) {
      const tx::Translator other(s.compared());
      out.write(tx::compare_translators(in, translator, other, s.lines, log));
    } else if (s.check_invariance) {
      out.write(tx::check_invariance(in, translator, s.lines, log));
    } else {
      tx::LineProgress progress(s.files, log);
      tx::translate_stream(in, translator, s.lines,
                           {out, status.get(), &progress, risk.rank(translator), aligner}, log);
    }
    out.close();
    if (status) status->close();
    for (const std::string& warning : in.warnings()) log.warn(warning);
    return 0;
  });
}
