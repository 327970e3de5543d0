#include "lib/search/options.h"

#include "lib/base/error.h"
#include "lib/checkpoint/model_kind.h"

namespace tx {

void SearchOptions::describe_beam(Options& options) {
  options.group("Search");
  options.add("--beam", beam, "N", "beam width; 1 is greedy search")
      .range(1, 1000)
      .excludes({"--tgt"});
  options
      .add("--alpha", alpha, "X", "exponent of the length penalty",
           "Translations are compared by log P / ((5 + length) / 6)^X, where length counts the "
           "pieces and the end of the sentence; 0 compares log P alone.")
      .range(0, 10);
  options
      .add("--max-extra", max_extra, "N", "pieces an output may be longer than its source",
           "An output that has not ended by then is cut there.")
      .range(0, 100000);
}

void SearchOptions::describe(Options& options) {
  const auto translating = of_kinds({ModelKind::encoder_decoder});
  const auto searching = of_kinds({ModelKind::encoder_decoder, ModelKind::decoder});
  describe_beam(options);
  options.at("beam").excludes({"--sample"});
  for (const char* name : {"beam", "alpha"}) options.at(name).needs(searching);
  options.at("max-extra").needs(translating);
  options.add("--nbest", nbest, "N", "print the N best outputs of each line", "At most the beam.")
      .range(1, 1000)
      .excludes({"--tgt"});
  options
      .flag("--sample", sample, "draw outputs at random instead of searching for the best",
            "--nbest draws several outputs then.")
      .needs(searching)
      .excludes({"--tgt"});
  options
      .add("--diversity", diversity, "X", "search in groups that avoid each other's pieces",
           "Diverse beam search (Vijayakumar et al., 2016): a piece costs a group X for each open "
           "output of the groups before it that has just taken it. Scores stay those of the model. "
           "With --nbest, to see more than spellings of one translation; 0.5 is a beginning.")
      .range(0, 100)
      .needs(searching)
      .excludes({"--tgt", "--sample"});
  options.add("--groups", groups, "N", "groups of the beam, which is a multiple of N")
      .range(1, 1000)
      .default_is("as many as the beam is wide")
      .needs({"--diversity"});
  options.group("What may come").needs(searching).excludes({"--tgt"});
  options
      .add("--min-length", min_length, "N", "pieces an output has at least",
           "It cannot end before; where it may not be so long, it is cut at its longest length.")
      .range(0, 100000);
  options
      .add("--no-repeat", no_repeat, "N", "no N pieces in a row come twice in an output",
           "0 allows them to come again.")
      .range(0, 1000);
  options
      .add("--forbid", forbid, "FILE", "words and phrases that may not come, one per line",
           "Each as it is written, a word's beginning where it begins: write other spellings, "
           "such as one with a capital, on lines of their own.")
      .input();
  options
      .add("--shortlist", shortlist, "FILE",
           "the pieces of an output are those that go with the pieces of its source",
           "FILE says which, see tx-shortlist(5); tx-bpe shortlist makes it. The logits of "
           "others are not computed, which is faster with a large vocabulary, and log P is "
           "among the pieces of the line's list. What --prefix and --constraints ask for is on "
           "it. On a CPU alone.")
      .input()
      .needs(translating);
  options
      .add("--shortlist-first", shortlist_first, "N",
           "of the most frequent pieces, the first N are on every list")
      .range(0, 1000000)
      .needs({"--shortlist"});
  options
      .add("--shortlist-best", shortlist_best, "N",
           "of the pieces that go with a source piece, the N most probable")
      .range(0, 1000000)
      .needs({"--shortlist"});
  options.group("Sampling").needs({"--sample"});
  options
      .add("--temperature", temperature, "X", "divides the logits; below 1 draws likelier pieces")
      .range(0.01, 100);
  options.add("--top-k", top_k, "N", "draw among the N likeliest pieces; 0 is all").at_least(0);
  options
      .add("--top-p", top_p, "X", "draw among the likeliest pieces that together have the share X")
      .range(0.001, 1);
  options
      .add("--min-p", min_p, "X",
           "draw among pieces at least X times as likely as the likeliest; 0 is all")
      .range(0, 1);
  options.add("--seed", seed, "N", "another seed draws other outputs",
              "A draw depends on the seed, the line's number and the place in the output alone.");
  options.group("Continuation of a text, by models of kind decoder")
      .needs(of_kinds({ModelKind::decoder}));
  options
      .add("--max-new", max_new, "N", "pieces of an output at most",
           "An output that has not ended by then is cut there.")
      .range(1, 100000);
  options
      .add("--stop", stops, "STRING", "end an output before this string",
           "May be given several times. Scores count what was read of the string.")
      .excludes({"--tgt"});
}

void SearchOptions::check() {
  if (diversity > 0 && groups == 0) groups = beam;
  if (diversity > 0 && beam % groups != 0)
    throw UsageError("--beam " + std::to_string(beam) + " is not a multiple of --groups " +
                     std::to_string(groups));
  if (sample || nbest <= beam) return;
  const std::string n = std::to_string(nbest);
  throw UsageError("--nbest " + n + " needs a beam at least as wide: give --beam " + n +
                   " or --nbest " + std::to_string(beam));
}

}  // namespace tx
