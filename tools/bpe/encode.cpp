// tx-bpe encode.
#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"
#include "lib/subword/piece_counts.h"
#include "tools/bpe/commands.h"

namespace tx {

void EncodeCommand::describe(Options& options) {
  options.usage("tx-bpe encode -m bpe.model < FILE");
  options.usage("tx-bpe encode --codes codes.bpe < FILE");
  options.add("-m,--model", model, "FILE", "the subword model, word list or trained model")
      .input()
      .excludes({"--codes"});
  const auto of_model = [](Option& option) -> Option& {
    return option.excludes({"--codes"}, "codes have no ids; take a model (-m)");
  };
  of_model(options.flag("--ids", encode.ids, "numbers in place of pieces"));
  of_model(options.flag("--bos", encode.bos, "begin each line with <s>"));
  of_model(options.flag("--eos", encode.eos, "end each line with </s>"));
  options
      .add("--max-length", encode.max_pieces, "N", "largest number of pieces per line",
           "Further pieces are left out, with a warning that counts such lines; <s> and </s> are "
           "not counted.")
      .at_least(1)
      .default_is("all")
      .excludes({"--codes"});
  options
      .add("--bpe-dropout", encode.dropout.probability, "P",
           "leave out merges with this probability",
           "BPE-dropout (Provilkov et al., 2020), for training data alone: whenever the best merge "
           "is sought, each possible one is left out with probability P. 0 gives the usual pieces, "
           "1 single characters.")
      .range(0, 1);
  options
      .add("--seed", encode.dropout.seed, "N", "seed of --bpe-dropout",
           "What is left out depends on the seed and on the number and text of the line alone.")
      .needs({"--bpe-dropout"});
  options
      .add("--vocabulary", apply.vocabulary, "FILE", "use only the pieces listed",
           "One per line, followed by a tab or a space and its count, as tx-bpe vocab --counts, "
           "spm_encode --generate_vocabulary and subword-nmt get-vocab write them. A piece that "
           "is not listed is split into smaller ones, down to characters.")
      .input();
  options
      .add("--vocabulary-threshold", apply.threshold, "N",
           "of these only those counted N times or more")
      .needs({"--vocabulary"});
  options.flag("--summary", encode.count,
               "report pieces per word, the shares of bytes and <unk>, and the longest line");
  options.group("Codes of subword-nmt").needs({"--codes"});
  options
      .add("--codes", codes, "FILE", "apply these codes in place of a model",
           "Tokenised text becomes, byte for byte, what subword-nmt apply-bpe makes of it.")
      .input();
  options.add("--separator", apply.separator, "TEXT", "ends each piece of a word but the last")
      .may_be_empty();
  options
      .add("--glossaries", apply.glossaries, "TEXT", "leave this text whole",
           "A text, or a regular expression, that becomes a piece of its own wherever it stands in "
           "a word.")
      .more("Expressions are not looked for in words of more than 1000 characters.");
  options.add("--merges", apply.merges, "N", "use only the first N codes")
      .at_least(0)
      .default_is("all");
  options.group("Input");
  text.describe(options);
}

void EncodeCommand::run(const Log& log) {
  if (model.empty() && codes.empty()) throw UsageError("missing option: -m FILE, or --codes FILE");
  const auto vocabulary = codes.empty() ? open_vocabulary(model, false) : nullptr;
  if (vocabulary && !apply.vocabulary.empty())
    vocabulary->restrict_to(read_pieces(apply.vocabulary, apply.threshold));
  const LineEncoder encoder = vocabulary ? line_encoder(*vocabulary, encode)
                                         : line_encoder(Codes(codes, apply), encode.dropout);
  TextReader in = text.open();
  Writer out("-");
  const EncodeReport report = encode_lines(in, encoder, text.limited_threads(log), out);
  out.close();
  for (const std::string& warning : in.warnings()) log.warn(warning);
  for (const std::string& warning : warnings(report, in, encode.max_pieces)) log.warn(warning);
  if (encode.count) log.info(tx::describe(report, in));
}

}  // namespace tx
