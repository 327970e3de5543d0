#include "lib/search/source_reader.h"

#include "lib/base/error.h"

namespace tx {

namespace {

template <class F>
void at_its_place(const TextReader& reader, F&& parse) {
  try {
    parse();
  } catch (const DataError& error) {
    throw DataError(reader.place(reader.line_number()) + ": " + error.what());
  }
}

// Cuts off the text up to the first tab.
std::string_view next_column(std::string_view& rest) {
  const size_t tab = rest.find('\t');
  const std::string_view column = rest.substr(0, tab);
  rest.remove_prefix(tab == rest.npos ? rest.size() : tab + 1);
  return column;
}

}  // namespace

void SourceReader::parse(Line& line, Source& source) {
  std::string_view rest = text_;
  const std::string_view text = options_.prefix ? next_column(rest) : text_;
  line = parse_line(text, options_, translator_, source.ids);
  if (line.cut) cuts_.add(in_.text(), line.pieces, translator_.max_source(), translator_.limit());
  if (!options_.prefix) return;
  const int64_t pieces = parse_prefix(next_column(rest), options_, translator_, source.prefix);
  if (!rest.empty())
    throw DataError("the line has more columns than --prefix reads: TEXT, a tab, PREFIX");
  const auto taken = int64_t(source.prefix.size());
  if (pieces > taken) cuts_.add(in_.text(), pieces, taken, translator_.limit());
  if (line.blank) source.prefix.clear();
}

bool SourceReader::next(Line& line, Source& source) {
  if (!in_.next(text_, target_)) return false;
  const TextReader& text = in_.text();
  source = {};
  at_its_place(text, [&] { parse(line, source); });
  line.number = source.line = text.line_number();
  line.replaced = text.replaced();
  if (!in_.other()) return true;
  const TextReader& other = *in_.other();
  int64_t pieces = 0;
  at_its_place(other,
               [&] { pieces = parse_target(target_, options_, translator_, source.target); });
  const auto labels = int64_t(source.target.size());
  if (pieces > labels) cuts_.add(other, pieces, labels, "--max-length and --max-extra");
  return true;
}

}  // namespace tx
