#include "lib/attention/words.h"

#include "lib/base/error.h"

namespace tx {

AttentionMap join_words(const AttentionMap& map, const WordGroups& rows,
                        const WordGroups& columns) {
  TX_ASSERT(rows.starts.back() == map.rows && columns.starts.back() == map.columns);
  AttentionMap out{int64_t(rows.size()), int64_t(columns.size()), {}};
  out.values.reserve(rows.size() * columns.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    const int64_t tokens = rows.starts[row + 1] - rows.starts[row];
    for (size_t column = 0; column < columns.size(); ++column) {
      double sum = 0;
      for (int64_t i = rows.starts[row]; i < rows.starts[row + 1]; ++i)
        for (int64_t j = columns.starts[column]; j < columns.starts[column + 1]; ++j)
          sum += double(map.at(i, j));
      out.values.push_back(float(sum / double(tokens)));
    }
  }
  return out;
}

RecordWords words_of(const AttentionRecord& record, const Vocabulary& source,
                     const Vocabulary& target) {
  return {group_words(source, record.source_ids), group_words(target, record.input_ids),
          group_words(target, record.target_ids)};
}

AttentionRecord in_words(const AttentionRecord& record, const Selection& selection,
                         const RecordWords& words) {
  AttentionRecord out = record;
  out.source = words.source.words;
  out.input = words.input.words;
  out.target = words.target.words;
  out.source_starts = words.source.starts;
  out.target_starts = words.target.starts;
  out.parts.clear();
  out.rank.clear();
  for (size_t i = 0; i < out.maps.size(); ++i) {
    const AttentionKind kind = selection.kinds[i].kind;
    for (auto& layer : out.maps[i])
      for (AttentionMap& map : layer)
        map = join_words(map, words.of(rows_of(kind, selection)), words.of(columns_of(kind)));
  }
  if (record.log_p.empty()) return out;
  out.log_p.clear();
  for (size_t w = 0; w < words.target.size(); ++w) {
    double sum = 0;
    for (int64_t i = words.target.starts[w]; i < words.target.starts[w + 1]; ++i)
      sum += double(record.log_p[size_t(i)]);
    out.log_p.push_back(float(sum));
  }
  return out;
}

}  // namespace tx
