// tx-bpe encode.
#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/subword/token_counts.h"
#include "tools/bpe/commands.h"

namespace tx {

void EncodeCommand::describe(Options& options) {
  options.usage("tx-bpe encode -m bpe.model < FILE");
  options.usage("tx-bpe encode --codes codes.bpe < FILE");
  options
      .add("-m,--model", model, "FILE", "subword model, word list, tokenizer.json or trained model")
      .input()
      .excludes({"--codes"});
  const auto of_model = [](Option& option) -> Option& {
    return option.excludes({"--codes"}, "codes have no ids; take a model (-m)");
  };
  of_model(options.flag("--ids", encode.ids, "write ids instead of tokens"));
  of_model(options.flag("--bos", encode.bos, "begin each line with <s>"));
  of_model(options.flag("--eos", encode.eos, "end each line with </s>"));
  options
      .add("--max-length", encode.max_tokens, "N", "cut lines to N tokens, with a warning",
           "<s> and </s> are not counted.")
      .at_least(1)
      .default_is("all")
      .excludes({"--codes"});
  options
      .add("--bpe-dropout", encode.dropout.probability, "P",
           "BPE-dropout: skip each merge with probability P",
           "A regulariser for training data (Provilkov et al., 2020). 1 gives single characters.")
      .range(0, 1);
  options
      .add("--seed", encode.dropout.seed, "N", "random seed",
           "The tokens of a line depend only on the seed, the line's number over all files, and "
           "its text.")
      .needs({"--bpe-dropout"});
  options
      .add("--vocabulary", apply.vocabulary, "FILE",
           "use only the tokens listed, as spm_encode does",
           "One per line, then a tab or a space and its count, as tx-bpe vocab --counts, "
           "spm_encode --generate_vocabulary and subword-nmt get-vocab write them. Other tokens "
           "are split into smaller ones, down to characters.")
      .input();
  options
      .add("--vocabulary-threshold", apply.threshold, "N",
           "use only tokens with a count of N or more")
      .needs({"--vocabulary"});
  options.flag("--summary", encode.count,
               "report tokens per word, shares of byte tokens and <unk>, longest line");
  options.group("Codes of subword-nmt").needs({"--codes"});
  options.add("--codes", codes, "FILE", "apply codes of subword-nmt learn-bpe instead of a model")
      .input();
  options.add("--separator", apply.separator, "TEXT", "suffix of each token of a word but the last")
      .may_be_empty();
  options.add("--glossaries", apply.glossaries, "TEXT",
              "text or regular expression to keep as one token", "Wherever it occurs in a word.");
  options.add("--merges", apply.merges, "N", "use only the first N merges")
      .at_least(0)
      .default_is("all");
  options.group("Input");
  text.describe(options);
}

void EncodeCommand::run(const Log& log) {
  if (model.empty() && codes.empty()) throw UsageError("missing option: -m FILE, or --codes FILE");
  const auto vocabulary = codes.empty() ? open_vocabulary(model, false) : nullptr;
  if (vocabulary && !apply.vocabulary.empty())
    vocabulary->restrict_to(
        read_tokens(apply.vocabulary, apply.threshold, [&](const std::string& token) {
          return vocabulary->kind() != "sentencepiece" ||
                 vocabulary->id_of(token) >= Vocabulary::specials;
        }));
  const LineTokenizer tokenizer = vocabulary ? line_tokenizer(*vocabulary, encode)
                                             : line_tokenizer(Codes(codes, apply), encode.dropout);
  TextReader in = text.open();
  Writer out("-");
  const EncodeReport report = encode_lines(in, tokenizer, text.limited_threads(log), out);
  out.close();
  for (const std::string& warning : in.warnings()) log.warn(warning);
  for (const std::string& warning : warnings(report, in, encode.max_tokens)) log.warn(warning);
  if (encode.count) Log("tx-bpe").info(tx::describe(report, in));  // even with -q
}

}  // namespace tx
