#include "lib/attention/record.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "lib/base/error.h"

namespace tx {

namespace {

// Weights are most of a record, so they are formatted as integers: 0.25 with 4 digits is 2500.
class FigureWriter {
 public:
  explicit FigureWriter(int digits) {
    TX_ASSERT(digits >= 1 && digits <= 9);
    for (int i = 0; i < digits; ++i) unit_ *= 10;
  }

  void append(std::string& out, float x) const {
    const double size = std::abs(double(x)) * double(unit_) + 0.5;
    if (!(size < 1e18)) return append_large(out, x);
    const auto units = uint64_t(size);
    if (x < 0 && units > 0) out += '-';
    char text[32];
    // Adding unit_ prints a leading 1, which keeps the zeros after the point; '.' replaces the 1.
    char* end = std::to_chars(text, text + sizeof text, unit_ + units % unit_).ptr;
    text[0] = '.';
    while (end[-1] == '0') --end;
    out += std::to_string(units / unit_);
    if (end > text + 1) out.append(text, end);
  }

 private:
  void append_large(std::string& out, float x) const {
    if (!std::isfinite(x)) {
      out += "null";
      return;
    }
    char text[64];
    out.append(text, std::to_chars(text, text + sizeof text, x).ptr);
  }

  uint64_t unit_ = 1;
};

template <class T, class F>
void append_list(std::string& out, const T& list, F&& append) {
  out += '[';
  bool first = true;
  for (const auto& element : list) {
    if (!first) out += ',';
    first = false;
    append(element);
  }
  out += ']';
}

void append_map(std::string& out, const AttentionMap& map, const FigureWriter& writer) {
  out += '[';
  for (int64_t row = 0; row < map.rows; ++row) {
    out += row == 0 ? "[" : ",[";
    for (int64_t column = 0; column < map.columns; ++column) {
      if (column > 0) out += ',';
      writer.append(out, map.at(row, column));
    }
    out += ']';
  }
  out += ']';
}

void append_maps(std::string& out, const AttentionMaps& maps, const FigureWriter& writer) {
  append_list(out, maps, [&](const auto& layer) {
    append_list(out, layer, [&](const AttentionMap& map) { append_map(out, map, writer); });
  });
}

// The output is one matrix per layer.
void append_layers(std::string& out, const AttentionMaps& maps, const FigureWriter& writer) {
  append_list(out, maps, [&](const auto& layer) { append_map(out, layer.front(), writer); });
}

// The largest entries of each row: columns and values.
void append_top(std::string& out, const AttentionMaps& maps, int count,
                const FigureWriter& writer) {
  AttentionMaps values;
  out += "{\"indices\":";
  append_list(out, maps, [&](const auto& layer) {
    auto& of_layer = values.emplace_back();
    append_list(out, layer, [&](const AttentionMap& map) {
      TopEntries top = top_of_rows(map, count);
      std::vector<std::vector<int32_t>> rows;
      for (auto at = top.indices.begin(); at != top.indices.end(); at += top.columns)
        rows.emplace_back(at, at + top.columns);
      out += to_text(Json(rows));
      of_layer.push_back({top.rows, top.columns, std::move(top.values)});
    });
  });
  out += ",\"values\":";
  append_maps(out, values, writer);
  out += '}';
}

const char* average_of(const Selection& selection) {
  return selection.mean_of_layers ? "all" : selection.mean_of_heads ? "heads" : "none";
}

// ,"encoder":...,"decoder":...
void append_kinds(std::string& out, const AttentionRecord& record, const Selection& selection,
                  Quantity quantity, const FigureWriter& writer) {
  const bool blank = record.blank();
  for (size_t i = 0; i < selection.kinds.size(); ++i) {
    out += std::string(",\"") + name_of(selection.kinds[i].kind) + "\":";
    static const AttentionMaps none;
    const AttentionMaps& maps = blank ? none : record.of(quantity)[i];
    if (selection.top > 0 && !blank)
      append_top(out, maps, selection.top, writer);
    else if (quantity == Quantity::output)
      append_layers(out, maps, writer);
    else
      append_maps(out, maps, writer);
  }
}

}  // namespace

const char* rows_of(AttentionKind kind, const Selection& selection) {
  if (kind == AttentionKind::encoder) return "source";
  return selection.shift ? "input" : "target";
}

const char* columns_of(AttentionKind kind) {
  return kind == AttentionKind::decoder ? "input" : "source";
}

const std::vector<std::string>& tokens_of(const AttentionRecord& record, std::string_view list) {
  return list == "source" ? record.source : list == "input" ? record.input : record.target;
}

Json record_head(const AttentionRecord& record, const Selection& selection) {
  const RecordModel& model = record.model;
  Json head = {{"format_version", record_version}, {"model", model.name}};
  if (!model.source_vocabulary.empty()) head["source_vocabulary"] = model.source_vocabulary;
  if (!model.target_vocabulary.empty()) head["target_vocabulary"] = model.target_vocabulary;
  head.update({{"line", record.line},
               {"source", record.source},
               {"input", record.input},
               {"target", record.target},
               {"source_ids", record.source_ids},
               {"target_ids", record.target_ids},
               {"text", record.text},
               {"translation", record.translation},
               {"forced", record.forced},
               {"average", average_of(selection)},
               {"heads", selection.heads},
               {"layers", Json::object()},
               {"rows", Json::object()},
               {"columns", Json::object()}});
  if (selection.words) {
    head["source_starts"] = record.source_starts;
    head["target_starts"] = record.target_starts;
  }
  for (const auto& [kind, layers] : selection.kinds) {
    head["layers"][name_of(kind)] = layers;
    head["rows"][name_of(kind)] = rows_of(kind, selection);
    head["columns"][name_of(kind)] = columns_of(kind);
  }
  return head;
}

std::string format_record(const AttentionRecord& record, const Selection& selection, int digits) {
  std::string out = to_text(record_head(record, selection));
  out.pop_back();
  const FigureWriter writer(digits);
  if (selection.log_p) {
    out += ",\"log_p\":";
    append_list(out, record.log_p, [&](float x) { writer.append(out, x); });
    if (!selection.words) out += ",\"rank\":" + to_text(Json(record.rank));
  }
  for (const Quantity quantity : selection.what) {
    if (quantity == Quantity::weights) {
      append_kinds(out, record, selection, quantity, writer);
      continue;
    }
    std::string kinds;
    append_kinds(kinds, record, selection, quantity, writer);
    out += std::string(",\"") + name_of_value(quantity) + "\":{" + kinds.substr(1) + "}";
  }
  return out + "}\n";
}

TopEntries top_of_rows(const AttentionMap& map, int count) {
  TopEntries out;
  out.rows = map.rows;
  out.columns = std::min<int64_t>(count, map.columns);
  std::vector<int32_t> order(size_t(map.columns));
  for (int64_t row = 0; row < map.rows; ++row) {
    std::iota(order.begin(), order.end(), 0);
    const auto larger = [&](int32_t a, int32_t b) {
      const float x = map.at(row, a), y = map.at(row, b);
      return x != y ? x > y : a < b;
    };
    std::partial_sort(order.begin(), order.begin() + out.columns, order.end(), larger);
    for (int64_t i = 0; i < out.columns; ++i) {
      out.indices.push_back(order[size_t(i)]);
      out.values.push_back(map.at(row, order[size_t(i)]));
    }
  }
  return out;
}

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
  RecordWords out{group_words(source, record.source_ids), group_words(target, record.input_ids),
                  group_words(target, record.target_ids)};
  if (record.target_ids.empty()) name_masks(out.source.words);
  return out;
}

void name_masks(std::vector<std::string>& tokens) {
  std::replace(tokens.begin(), tokens.end(), std::string("<pad>"), std::string(mask_text));
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
