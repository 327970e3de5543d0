#include "lib/search/options.h"

#include <set>

#include "lib/base/error.h"
#include "lib/checkpoint/model_file.h"

namespace tx {

void SearchOptions::describe_beam(Options& options) {
  options.group("Search");
  options.add("--beam", beam, "N", "beam size; 1 is greedy search")
      .range(1, 1000)
      .excludes({"--tgt"});
  options
      .add("--alpha", alpha, "X", "exponent of the length penalty; 0 turns it off",
           "The score is log P / ((5 + length) / 6)^X (Wu et al., 2016), where length counts the "
           "tokens and the end.")
      .range(0, 10);
  options
      .add("--max-extra", max_extra, "N", "maximum length of an output: source tokens + N",
           "An output that has not ended by then is cut.")
      .range(0, 100000);
}

void SearchOptions::describe(Options& options) {
  const auto translating = of_kinds({ModelKind::encoder_decoder});
  const auto searching = of_kinds({ModelKind::encoder_decoder, ModelKind::decoder});
  describe_beam(options);
  options.at("beam").excludes({"--sample"});
  for (const char* name : {"beam", "alpha"}) options.at(name).needs(searching);
  options.at("max-extra").needs(translating);
  options
      .add(
          "--nbest", nbest, "N", "print the N best outputs of each line",
          "Columns are line, rank, score, log P and text, separated by tabs; a blank line has one "
          "row with the score 0. N is at most the beam size. There are fewer rows if fewer outputs "
          "have ended, and a text is printed once, with its best score. With --sample, N samples, "
          "which may be equal.")
      .range(1, 1000)
      .excludes({"--tgt"});
  options.flag("--sample", sample, "sample from the model instead of beam search")
      .needs(searching)
      .excludes({"--tgt"});
  options
      .add("--diversity", diversity, "X", "strength of diverse beam search; 0: off",
           "The beam is searched in groups, one after another; a token costs X for each hypothesis "
           "of an earlier group that chose it in the same step (Vijayakumar et al., 2016). Scores "
           "remain those of the model. Use it with --nbest; try 0.5.")
      .range(0, 100)
      .needs(searching)
      .excludes({"--tgt", "--sample"});
  options.add("--groups", groups, "N", "groups of the beam; N divides the beam size")
      .range(1, 1000)
      .default_is("the beam size")
      .needs({"--diversity"});
  options
      .add("--alternatives", alternatives, "N",
           "print an output for each of the N best next tokens",
           "The outputs differ in their first token, or in the first behind the complete words of "
           "--prefix. Each is the best of a beam of its own; they are printed as with --nbest.")
      .range(2, 100)
      .needs(translating)
      .excludes(
          {"--tgt", "--sample", "--nbest", "--diversity", "--constraints", "--constraints-file"});
  options.group("Output constraints").needs(searching).excludes({"--tgt"});
  options
      .add("--min-length", min_length, "N", "minimum length of an output in tokens",
           "An output is never longer than --max-extra or --max-new allows.")
      .range(0, 100000);
  options
      .add("--no-repeat", no_repeat, "N", "block repeated n-grams of N tokens; 0: off",
           "The byte tokens of a character count as one token.")
      .range(0, 1000);
  options
      .add("--forbid", forbid, "FILE", "words and phrases to block, one per line",
           "Only the spelling given is blocked: list capitalised and inflected forms as well. See "
           "PREFIXES AND CONSTRAINTS.")
      .input();
  options
      .add("--shortlist", shortlist, "FILE", "restrict outputs to a lexical shortlist",
           "tx-bpe shortlist writes FILE; tx-shortlist(5) describes it. CPU only.")
      .input()
      .needs(translating);
  options
      .add("--shortlist-first", shortlist_first, "N",
           "allow the N most frequent target tokens in every line")
      .range(0, 1000000)
      .needs({"--shortlist"});
  options
      .add("--shortlist-best", shortlist_best, "N",
           "allow the N most probable tokens of each source token")
      .range(0, 1000000)
      .needs({"--shortlist"});
  options.group("Sampling").needs({"--sample"});
  options.add("--temperature", temperature, "X", "divide the logits by X").range(0.01, 100);
  options.add("--top-k", top_k, "N", "sample from the N most probable tokens; 0: all").at_least(0);
  options
      .add("--top-p", top_p, "X",
           "nucleus sampling: the most probable tokens of total probability X")
      .range(0.001, 1);
  options
      .add("--min-p", min_p, "X",
           "sample from tokens with at least X times the probability of the best")
      .range(0, 1);
  options.add("--seed", seed, "N", "seed of the samples",
              "A sample depends only on the seed, the number of the line, that of the sample "
              "(--nbest) and the position in the output.");
  options.group("Language models").needs(of_kinds({ModelKind::decoder}));
  options.add("--max-new", max_new, "N", "maximum length of an output in tokens").range(1, 100000);
  options
      .add("--stop", stops, "STRING", "end an output before this string",
           "Scores include the tokens of the string that were generated.")
      .excludes({"--tgt"});
}

void SearchOptions::set_defaults(Options& options, const Json& defaults, const std::string& where,
                                 const std::function<void()>& check) {
  const auto fits = [&] {
    try {
      check();
      SearchOptions(*this).check();
    } catch (const UsageError&) {
      return false;
    }
    return true;
  };
  if (!fits()) return;  // for another reason, which is reported later
  static const std::set<std::string> known = {
      "beam",   "alpha", "no-repeat", "min-length", "diversity",   "groups", "max-new",
      "sample", "top-k", "top-p",     "min-p",      "temperature", "stop"};
  for (const auto& [name, value] : defaults.items()) {
    if (known.count(name) == 0)
      throw DataError(where + ": its default of " + shown(name) + " is not supported");
    options.from_json({{name, value}}, where);
    if (!fits()) options.from_json({{name, options.at(name).start}}, where);
  }
}

void SearchOptions::check() {
  if (alternatives > 0) {
    groups = nbest = alternatives;
    beam *= alternatives;
  }
  const int unit = diversity > 0 && groups > 0 ? groups : 1;  // --beam is a multiple of it
  if (diversity > 0 && groups == 0) groups = beam;
  if (diversity > 0 && beam % groups != 0)
    throw UsageError("--beam " + std::to_string(beam) + " is not a multiple of --groups " +
                     std::to_string(groups));
  if (sample || nbest <= beam) return;
  throw UsageError(
      "--nbest " + std::to_string(nbest) + " needs a beam at least as wide: give --beam " +
      std::to_string((nbest + unit - 1) / unit * unit) + " or --nbest " + std::to_string(beam));
}

}  // namespace tx
