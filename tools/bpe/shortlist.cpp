// tx-bpe shortlist.
#include <algorithm>
#include <unordered_map>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/split.h"
#include "lib/checkpoint/model_file.h"
#include "lib/subword/languages.h"
#include "lib/subword/lexical_table.h"
#include "lib/subword/word_groups.h"
#include "lib/text/corpus.h"
#include "lib/text/parse.h"
#include "tools/bpe/commands.h"

namespace tx {

namespace {

// Counts target tokens, and pairs of linked source and target tokens.
class Counts {
 public:
  Counts(const Vocabulary& source, const Vocabulary& target, bool words)
      : source_(source),
        target_(target),
        source_words_(source),
        target_words_(target),
        words_(words),
        of_target_(size_t(target.size())) {}

  void add_target(std::string_view text) {
    target_.encode(text, to_);
    for (const int id : to_) ++of_target_[size_t(id)];
  }
  // Call after add_target() of the same pair.
  void add_links(std::string_view text, std::string_view links) {
    source_.encode(text, from_);
    const size_t opening = opening_tokens(source_).size();  // belong to no word
    from_.erase(from_.begin(), from_.begin() + long(std::min(opening, from_.size())));
    const std::vector<int64_t> from = starts(from_, source_words_), to = starts(to_, target_words_);
    for (const WordLink& link : parse_links(links)) {
      check(link, from.size() - 1, to.size() - 1);
      for (int64_t s = from[link.source]; s < from[link.source + 1]; ++s)
        for (int64_t t = to[link.target]; t < to[link.target + 1]; ++t)
          ++pairs_[uint64_t(from_[size_t(s)]) << 32 | uint32_t(to_[size_t(t)])];
    }
  }
  // Relative frequencies of target tokens, in all text and given each source token.
  LexicalTable table() const {
    LexicalTable out;
    out.of_source.resize(size_t(source_.size()));
    double all = 0;
    std::vector<double> of_source(out.of_source.size());
    for (const int64_t count : of_target_) all += double(count);
    for (const auto& [pair, count] : pairs_) of_source[size_t(pair >> 32)] += double(count);
    for (size_t id = 0; id < of_target_.size(); ++id)
      if (of_target_[id] > 0) out.frequent.push_back({int32_t(id), double(of_target_[id]) / all});
    for (const auto& [pair, count] : pairs_) {
      const size_t source = size_t(pair >> 32);
      out.of_source[source].push_back({int32_t(uint32_t(pair)), double(count) / of_source[source]});
    }
    return out;
  }

 private:
  std::vector<int64_t> starts(const std::vector<int>& ids, const WordStarts& words) const {
    if (words_) return words(ids);
    std::vector<int64_t> out(ids.size() + 1);
    for (size_t i = 0; i < out.size(); ++i) out[i] = int64_t(i);
    return out;
  }
  void check(const WordLink& link, size_t from, size_t to) const {
    const char* unit = words_ ? "word" : "token";
    const bool of_tokens = words_ && link.source < from_.size() && link.target < to_.size();
    const char* advice = of_tokens ? "; --unit pieces is for links between tokens, as "
                                     "tx-attn-dump --align writes them without --words"
                                   : "";
    for (const auto& [at, count, side] :
         {std::tuple(link.source, from, "source"), std::tuple(link.target, to, "target")})
      if (at >= count)
        throw DataError("link " + std::to_string(link.source) + "-" + std::to_string(link.target) +
                        ", but the " + side + " has " + counted(int64_t(count), unit) +
                        ", counted from 0" + advice);
  }

  const Vocabulary &source_, &target_;
  WordStarts source_words_, target_words_;
  bool words_;
  std::vector<int64_t> of_target_;
  std::unordered_map<uint64_t, int64_t> pairs_;  // source << 32 | target
  std::vector<int> from_, to_;
};

std::string place(const LineReader& reader) {
  return reader.name() + ":" + std::to_string(reader.line_number()) + ": ";
}

void count_links(const ShortlistCommand& command, Counts& counts, const Log& log) {
  LinePairs in({command.source}, command.target);
  LineReader links(command.links);
  std::string source, target, line;
  while (in.next(source, target)) {
    if (!links.next(line)) {
      const LineCount all = count_to_end(in.text(), command.source);
      throw DataError(
          counts_differ({links.name(), links.line_number()}, all, links.line_number() + 1));
    }
    counts.add_target(target);
    try {
      counts.add_links(source, line);
    } catch (const DataError& error) {
      throw DataError(place(links) + error.what());
    }
  }
  if (links.next(line)) {
    const int64_t extra = links.line_number();
    throw DataError(
        counts_differ({command.source, extra - 1}, count_to_end(links, links.name()), extra));
  }
  for (const std::string& warning : in.warnings()) log.warn(warning);
}

// Reads the table of --table; tokens that the vocabularies lack are skipped.
void read_table(const std::string& path, const Vocabulary& source, const Vocabulary& target,
                LexicalTable& table, const Log& log) {
  LineReader reader(path);
  std::string line;
  int64_t unknown = 0;
  while (reader.next(line)) try {
      const std::vector<std::string_view> fields = split_fields(line);
      if (fields.size() != 3)
        throw DataError("expected a source token, a target token and a probability");
      const double probability = parse_probability(fields[2]);
      const int from = source.id_of(fields[0]), to = target.id_of(fields[1]);
      if (from >= 0 && to >= 0)
        table.of_source[size_t(from)].push_back({to, probability});
      else
        ++unknown;
    } catch (const DataError& error) {
      throw DataError(place(reader) + error.what());
    }
  if (unknown == reader.line_number())
    throw DataError(reader.name() +
                    ": no line has tokens of both vocabularies; give a table of their tokens");
  if (unknown > 0)
    log.warn(counted(unknown, "line") + " of " + with_commas(reader.line_number()) + " of " +
             reader.name() + " left out: the vocabulary lacks one of the tokens");
}

}  // namespace

void ShortlistCommand::describe(Options& options) {
  options.usage("tx-bpe shortlist -m MODEL --src FILE --tgt FILE --links FILE -o FILE");
  options.usage("tx-bpe shortlist -m MODEL --tgt FILE --table FILE -o FILE");
  options
      .add("-m,--model", model, "FILE", "subword model, word list or trained model",
           "Of a trained model, the vocabularies of both sides are used.")
      .must()
      .input();
  options
      .add("--tgt", target, "FILE", "target text, plain or gzip",
           "For --first, tokens are counted in it.")
      .must()
      .input();
  options.add("--src", source, "FILE", "source text, parallel to --tgt").input().needs({"--links"});
  options
      .add(
          "--links", links, "FILE", "alignments of --src and --tgt, lines such as 0-0 1-2",
          "SOURCE-TARGET, counted from 0: words, as word aligners and tx-attn-dump --align --words "
          "write them, or tokens, as tx-attn-dump --align writes them.")
      .input()
      .needs({"--src"});
  options
      .add("--unit", unit, "words|pieces", "whether links connect words or tokens",
           "Give pieces for links between tokens; the file does not say which it has. With words, "
           "all tokens of a word are linked to all tokens of the other word.")
      .one_of({"words", "pieces"})
      .needs({"--links"});
  options
      .add("--table", table, "FILE", "lexical table to use instead of --src and --links",
           "Lines of SOURCE TARGET PROBABILITY, separated by spaces or tabs. Lines with a token "
           "that is not in the vocabulary are skipped and counted in a warning.")
      .input()
      .excludes({"--src", "--links"});
  options.add("--first", first, "N", "write the N most frequent target tokens").range(0, 1000000);
  options.add("--best", best, "N", "write the N best target tokens of each source token")
      .range(1, 1000000);
  options.add("-o,--out", output, "FILE", "output file; - is standard output").must().output();
}

void ShortlistCommand::run(const Log& log) {
  if (links.empty() && table.empty())
    throw UsageError("missing option: --src FILE and --links FILE, or --table FILE");
  const auto from = open_vocabulary(model, false), to = open_vocabulary(model, true);
  Counts counts(*from, *to, unit == "words");
  if (links.empty()) {
    TextReader in({target});
    for (std::string line; in.next(line);) counts.add_target(line);
    for (const std::string& warning : in.warnings()) log.warn(warning);
  } else {
    count_links(*this, counts, log);
  }
  LexicalTable made = counts.table();
  if (!table.empty()) read_table(table, *from, *to, made, log);
  made.keep_best(size_t(first), size_t(best));
  write_atomically(output, [&](Writer& out) { write_lexical_table(made, *from, *to, out); });
}

}  // namespace tx
