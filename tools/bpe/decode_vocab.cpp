// tx-bpe decode and tx-bpe vocab.
#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/subword/token_counts.h"
#include "lib/subword/token_lines.h"
#include "tools/bpe/commands.h"

namespace tx {

void TextOptions::describe(Options& options) {
  options.flag("--strict", strict, "stop at the first line that is not valid UTF-8",
               "Otherwise invalid bytes become U+FFFD and are counted in a warning.");
  options.threads(threads, "Does not change the result.");
  options.positional("FILE", files, "text, plain or gzip").or_standard_input();
}

TextReader TextOptions::open() const {
  return TextReader(files.empty() ? std::vector<std::string>{"-"} : files, strict);
}

int TextOptions::limited_threads(const Log& log) const {
  int count = threads;
  limit_threads(count, log);
  return count;
}

void DecodeCommand::describe(Options& options) {
  options.usage("tx-bpe decode -m bpe.model < FILE");
  options.usage("tx-bpe decode --separator @@ < FILE");
  options
      .add("-m,--model", model, "FILE", "subword model, word list, tokenizer.json or trained model")
      .input();
  options
      .add("--separator", separator, "TEXT",
           "instead of a model: join tokens that end in TEXT with the next",
           "With @@ it reverses encode --codes.")
      .excludes({"--model", "--ids"});
  options.flag("--ids", ids, "read ids instead of tokens").excludes({"--separator"});
  text.describe(options);
}

void DecodeCommand::run(const Log& log) {
  if (model.empty() && separator.empty())
    throw UsageError("missing option: -m FILE, or --separator TEXT");
  const auto vocabulary = model.empty() ? nullptr : open_vocabulary(model, true);
  TextReader in = text.open();
  Writer out("-");
  if (vocabulary)
    decode_lines(in, *vocabulary, ids, text.limited_threads(log), out);
  else
    join_lines(in, separator, text.limited_threads(log), out);
  out.close();
  for (const std::string& warning : in.warnings()) log.warn(warning);
}

void VocabCommand::describe(Options& options) {
  options.usage("tx-bpe vocab -m bpe.model");
  options.usage("tx-bpe vocab -m bpe.model --counts FILE...");
  options
      .add("-m,--model", model, "FILE", "subword model, word list, tokenizer.json or trained model")
      .must()
      .input();
  options.flag("--counts", counts, "print the tokens of a text and their counts instead",
               "Separated by tabs, in descending order; tokens that do not occur are not listed.");
  text.describe(options);
  for (const char* name : {"strict", "threads", "FILE"}) options.at(name).needs({"--counts"});
}

void VocabCommand::run(const Log& log) {
  const auto vocabulary = open_vocabulary(model, false);
  Writer out("-");
  if (counts) {
    TextReader in = text.open();
    write_counts(count_tokens(in, *vocabulary, text.limited_threads(log)), '\t', out);
    for (const std::string& warning : in.warnings()) log.warn(warning);
  } else {
    write_listing(*vocabulary, out);
  }
  out.close();
}

}  // namespace tx
