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

}  // namespace

bool SourceReader::next(Line& line, Source& source) {
  if (!in_.next(text_, target_)) return false;
  const TextReader& text = in_.text();
  source = {};
  at_its_place(text, [&] { line = parse_line(text_, options_, translator_, source.ids); });
  line.number = source.line = text.line_number();
  line.replaced = text.replaced();
  if (line.cut) cuts_.add(text, line.pieces, translator_.max_source(), translator_.limit());
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
