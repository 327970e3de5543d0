#include "lib/subword/token_counts.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/split.h"
#include "lib/base/utf8.h"
#include "lib/base/workers.h"

namespace tx {

namespace {

constexpr size_t block_bytes = size_t(1) << 20;

// Replaces the lines of a block by one: the counts of all ids, as bytes.
void count_block(Block& block, const Vocabulary& vocabulary) {
  std::vector<int64_t> counts(size_t(vocabulary.size()));
  std::vector<int> ids;
  for (const std::string& line : block.lines) {
    vocabulary.encode(line, ids);
    for (const int id : ids) ++counts[size_t(id)];
  }
  const char* bytes = reinterpret_cast<const char*>(counts.data());
  block.lines.assign(1, std::string(bytes, counts.size() * sizeof counts[0]));
}

void add_block(const Block& block, std::vector<int64_t>& total) {
  std::vector<int64_t> counts(total.size());
  std::copy_n(block.lines[0].data(), block.lines[0].size(), reinterpret_cast<char*>(counts.data()));
  for (size_t i = 0; i < total.size(); ++i) total[i] += counts[i];
}

std::pair<std::string, int64_t> parse(const std::string& line, const std::string& place) {
  const size_t at = line.find_last_of(" \t");
  if (line.empty() || at == 0 || count_invalid_utf8(line) > 0)
    throw DataError(place + ": expected a token, a tab or a space, and a count");
  if (at == line.npos) return {line, 1};
  int64_t count = 0;
  const bool score = line[at + 1] == '-';
  if (!parse_number(std::string_view(line).substr(at + 1), count) || score)
    throw DataError(place + ": '" + line.substr(at + 1) + "' is not a count" +
                    (score ? " but a score: give counts, as tx-bpe vocab --counts writes" : ""));
  return {line.substr(0, at), count};
}

}  // namespace

TokenCounts count_tokens(TextReader& in, const Vocabulary& vocabulary, int threads) {
  std::vector<int64_t> total(size_t(vocabulary.size()));
  const auto read = [&](Block& block) {
    std::string line;
    for (size_t bytes = 0; bytes < block_bytes && in.next(line); bytes += line.size() + 1)
      block.lines.push_back(line);
    return !block.lines.empty();
  };
  ordered_workers(
      threads, read, [&](Block& block) { count_block(block, vocabulary); },
      [&](const Block& block) { add_block(block, total); });
  TokenCounts counts;
  for (size_t id = 0; id < total.size(); ++id)
    if (total[id] > 0) counts.emplace_back(vocabulary.token(int(id)), total[id]);
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return counts;
}

std::vector<std::string> read_tokens(const std::string& path, std::optional<int> threshold,
                                     const std::function<bool(const std::string&)>& known) {
  LineReader reader(path);
  std::vector<std::string> tokens;
  int64_t found = 0, unknown = 0;  // of more than one character, which every vocabulary has
  for (std::string line; reader.next(line);) {
    while (line.ends_with('\r') || line.ends_with(' ')) line.pop_back();
    const auto [token, count] =
        parse(line, reader.name() + ":" + std::to_string(reader.line_number()));
    size_t first = 0;
    next_code_point(token, first);
    if (first < token.size()) ++(known(token) ? found : unknown);
    if (!threshold || count >= *threshold) tokens.push_back(token);
  }
  if (reader.line_number() == 0) throw DataError(reader.name() + " is empty; expected tokens");
  if (3 * unknown > found)
    throw DataError(reader.name() + ": " + with_commas(unknown) + " of " +
                    with_commas(reader.line_number()) +
                    " entries are not tokens of this vocabulary; expected its tokens with their "
                    "counts, as tx-bpe vocab --counts or subword-nmt get-vocab writes them");
  return tokens;
}

std::string in_one_line(std::string_view token) {
  std::string out;
  for (const char c : token) out += c == '\t' ? "\\t" : c == '\n' ? "\\n" : std::string(1, c);
  return out;
}

void write_counts(const TokenCounts& counts, char separator, Writer& out) {
  for (const auto& [token, count] : counts)
    out.write(in_one_line(token) + separator + std::to_string(count) + "\n");
}

void TokenShares::add(std::span<const int> ids, const Vocabulary& vocabulary) {
  ++lines;
  tokens += int64_t(ids.size());
  unknown += std::count(ids.begin(), ids.end(), Vocabulary::unk);
  bytes += std::count_if(ids.begin(), ids.end(), [&](int id) { return vocabulary.is_byte(id); });
}

std::string describe(const TokenShares& shares, const Vocabulary& vocabulary) {
  const std::string unknown = formatted("%.1f %% <unk>", 100 * shares.unknown_share());
  if (vocabulary.kind() == "words") return unknown;
  return unknown + formatted(", %.1f %% bytes", 100 * shares.byte_share());
}

}  // namespace tx
