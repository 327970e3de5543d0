#include "lib/train/options/vocabulary_fit.h"

#include <algorithm>

#include "lib/subword/piece_shares.h"

namespace tx {

namespace {

constexpr int64_t max_lines = 1000;
constexpr double max_share = 0.05;

struct Side {
  const char* name;      // for messages
  const char* question;  // what the user may have done
  std::vector<std::string> files;
  std::string vocabulary;  // its file; "" where it has none
};

// Of the first lines of one side, without those that the cache has dropped.
TokenShares count_shares(const IdCache& cache, int side, const Vocabulary& vocabulary) {
  TokenShares shares;
  for (int64_t pair = 0; pair < std::min(cache.pairs(), max_lines); ++pair)
    shares.add(cache.ids(pair, side), vocabulary);
  return shares;
}

std::string first_pairs(const TokenShares& shares) {
  const int64_t n = shares.lines;
  return n == 1 ? "first pair" : "first " + std::to_string(n) + " pairs";
}

std::string way_out(const TrainOptions& o, const Vocabulary& vocabulary) {
  std::string texts;
  for (const auto* files : {&o.src, &o.tgt})
    for (const std::string& file : *files) texts += " " + file;
  const bool words = vocabulary.kind() == "words";
  return (words ? " It is a list of whole words; tokens, which spell any word, come from: "
                : " To make one of this text: ") +
         ("tx-bpe train -o new.model" + texts);
}

// What the user may have done, the likeliest first.
std::string likely_cause(const TrainOptions& o, const Side& side, const Vocabulary& vocabulary) {
  const std::string exchanged = side.question;
  if (o.vocab == "words") return "The words are those of the training text; " + exchanged;
  if (!o.init.empty()) return "Is " + o.init + " a model of other languages, or " + exchanged;
  std::string out = "Is " + side.vocabulary + " of another language, or ";
  if (!o.vocab_src.empty()) out += "are --vocab-src and --vocab-tgt exchanged, or ";
  return out + exchanged + way_out(o, vocabulary);
}

void warn_of(const TrainOptions& options, const Side& side, const TokenShares& shares,
             const Vocabulary& vocabulary, const Log& log) {
  if (std::max(shares.unknown_share(), shares.byte_share()) <= max_share) return;
  log.warn(std::string(side.name) + " (" + side.files.front() +
           "): " + describe(shares, vocabulary) + " in the " + first_pairs(shares) +
           ": the vocabulary does not fit this text. " + likely_cause(options, side, vocabulary));
}

}  // namespace

void tell_fit(const TrainOptions& o, const Vocabularies& v, const Corpora& corpora,
              const Log& log) {
  const std::string source_file = o.vocab.empty() ? o.vocab_src : o.vocab;
  const std::string target_file = o.vocab.empty() ? o.vocab_tgt : o.vocab;
  const char* const texts = "are --src and --tgt exchanged?";
  const char* const valid_texts = "are --valid-src and --valid-tgt exchanged?";
  std::vector<Side> sides[2] = {
      {{"source", texts, o.src, source_file}, {"target", texts, o.tgt, target_file}},
      {{"validation source", valid_texts, o.valid_src, source_file},
       {"validation target", valid_texts, o.valid_tgt, target_file}}};
  if (o.one_text()) {
    sides[0] = {{"text", "is --src the text that was meant?", o.src, source_file}};
    sides[1] = {
        {"validation text", "is --valid-src the text that was meant?", o.valid_src, source_file}};
  }
  for (const bool valid : {false, true}) {
    const IdCache* cache = valid ? corpora.valid.get() : corpora.train.get();
    if (!cache) continue;
    std::string told;
    for (size_t s = 0; s < sides[valid].size(); ++s) {
      const Side& side = sides[valid][s];
      const TokenShares shares = count_shares(*cache, int(s), v[s]);
      const std::string found = std::string(side.name) + " " + describe(shares, v[s]);
      told += s == 0 ? first_pairs(shares) + ": " + found : "; " + found;
      if (!valid && s + 1 == sides[valid].size()) log.info(told);
    }
    for (size_t s = 0; s < sides[valid].size(); ++s)
      warn_of(o, sides[valid][s], count_shares(*cache, int(s), v[s]), v[s], log);
  }
}

}  // namespace tx
