// tx-bleu: score translations against references.
#include "lib/checkpoint/model_file.h"
#include "lib/eval/report/scoring.h"
#include "lib/eval/tokenizers/tokenizer.h"

namespace {

// The bytes of a SentencePiece model: of the file itself, or of the target vocabulary of a model.
std::string tokenizer_model(const std::string& path) {
  return tx::names_model(path) ? tx::open_vocabulary(path, true)->bytes() : tx::read_file(path);
}

}  // namespace

int main(int argc, char** argv) {
  return tx::run_tool("tx-bleu", [&] {
    tx::read_tokenizer_models_by(tokenizer_model);
    tx::ScoringOptions settings;
    tx::Options options("tx-bleu", "score translations: " + tx::metrics_summary());
    settings.describe(options);
    if (!options.parse(argc, argv)) return 0;

    tx::Writer out("-");
    tx::run_scoring(std::move(settings), tx::Log("tx-bleu", settings.quiet), out);
    out.close();
    return 0;
  });
}
