#include "lib/subword/lexical_table.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/split.h"

namespace tx {

namespace {

void keep(std::vector<LexicalTable::Entry>& entries, size_t count) {
  const auto better = [](const LexicalTable::Entry& a, const LexicalTable::Entry& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.token < b.token;
  };
  if (entries.size() <= count && std::is_sorted(entries.begin(), entries.end(), better)) return;
  const size_t kept = std::min(count, entries.size());
  std::partial_sort(entries.begin(), entries.begin() + ptrdiff_t(kept), entries.end(), better);
  entries.resize(kept);
}

int id_of(const Vocabulary& vocabulary, std::string_view token, const char* side) {
  const int id = vocabulary.id_of(token);
  if (id < 0)
    throw DataError("the " + std::string(side) + " vocabulary has no token '" + std::string(token) +
                    "'; make the list with the vocabulary of the model");
  return id;
}

void write_entries(const std::string& source, const std::vector<LexicalTable::Entry>& entries,
                   const Vocabulary& target, Writer& out) {
  for (const LexicalTable::Entry& e : entries)
    out.write(source + "\t" + target.token(e.token) + formatted("\t%.6g\n", e.probability));
}

}  // namespace

void LexicalTable::keep_best(size_t frequent_tokens, size_t each) {
  keep(frequent, frequent_tokens);
  for (std::vector<Entry>& entries : of_source) keep(entries, each);
}

double parse_probability(std::string_view text) {
  double value = 0;
  if (!parse_number(text, value) || !(value > 0 && value <= 1))
    throw DataError("'" + std::string(text) + "' is not a probability above 0 and at most 1");
  return value;
}

LexicalTable read_lexical_table(const std::string& path, const Vocabulary& source,
                                const Vocabulary& target) {
  LexicalTable table;
  table.of_source.resize(size_t(source.size()));
  LineReader reader(path);
  std::string line, last;
  int last_id = -1;  // of `last`: the lines of a source token usually follow one another
  while (reader.next(line)) try {
      const std::string_view view = line;
      const size_t first = view.find('\t'), second = view.find('\t', first + 1);
      if (first == view.npos || second == view.npos)
        throw DataError(
            "expected a source token, a target token and a probability, separated by tabs");
      const std::string_view token = view.substr(0, first);
      if (!token.empty() && token != last) {
        last_id = id_of(source, token, "source");
        last = token;
      }
      const std::string_view other = view.substr(first + 1, second - first - 1);
      const LexicalTable::Entry entry{int32_t(id_of(target, other, "target")),
                                      parse_probability(view.substr(second + 1))};
      (token.empty() ? table.frequent : table.of_source[size_t(last_id)]).push_back(entry);
    } catch (const DataError& error) {
      throw DataError(reader.name() + ":" + std::to_string(reader.line_number()) + ": " +
                      error.what());
    }
  if (reader.line_number() == 0) throw DataError(reader.name() + " is empty");
  return table;
}

void write_lexical_table(const LexicalTable& table, const Vocabulary& source,
                         const Vocabulary& target, Writer& out) {
  write_entries("", table.frequent, target, out);
  for (size_t id = 0; id < table.of_source.size(); ++id)
    write_entries(source.token(int(id)), table.of_source[id], target, out);
}

}  // namespace tx
