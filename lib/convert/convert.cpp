#include "lib/convert/convert.h"

#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/convert/ctranslate2.h"
#include "lib/convert/output_folder.h"

namespace tx {

void ConvertOptions::describe(Options& options) {
  options.usage("tx-convert --to ctranslate2 [OPTION]... -o FOLDER MODEL");
  options.group("Input");
  options
      .positional("MODEL", input, "model file, or run directory",
                  "Of a run directory the best model is taken, else the last one.")
      .must();
  options.group("Output");
  options.add("-o,--out", out, "PATH", "folder to make").must();
  options
      .add("--to", to, "ctranslate2", "the toolkit to write for",
           "ctranslate2 makes the folder that ctranslate2.Translator opens.")
      .one_of({"ctranslate2"})
      .must();
  options
      .add("--max-positions", max_positions, "N", "rows of computed positions",
           "CTranslate2 reads positions from a table: it takes no longer sentence than this. "
           "Learned positions are written as they are.")
      .range(2, 1 << 20);
  options.flag("-q,--quiet", quiet, "do not say what was written");
}

void ConvertOptions::resolve() const {
  if (out == "-") throw UsageError("--out -: a folder cannot go to standard output");
}

void convert_model(const ConvertOptions& options, const Log& log) {
  const ModelReader model(options.input);
  OutputFolder folder(options.out);
  write_ctranslate2(folder, model, options.max_positions);
  folder.finish();
  log.info("wrote " + options.out + ", a folder for CTranslate2");
}

}  // namespace tx
