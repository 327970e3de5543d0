#include "lib/attention/record.h"

#include <charconv>

#include "lib/base/error.h"
#include "lib/base/json.h"

namespace tx {

namespace {

// Weights are most of a record, so they are written as integers: 0.25 with 4 digits is 2500.
class WeightWriter {
 public:
  explicit WeightWriter(int digits) {
    TX_ASSERT(digits >= 1 && digits <= 9);
    for (int i = 0; i < digits; ++i) unit_ *= 10;
  }

  void append(std::string& out, float weight) const {
    const auto units = uint64_t(double(weight) * double(unit_) + 0.5);
    char text[32];
    // The unit in front keeps the zeros after the point.
    char* end = std::to_chars(text, text + sizeof text, unit_ + units % unit_).ptr;
    text[0] = '.';
    while (end[-1] == '0') --end;
    out += std::to_string(units / unit_);
    if (end > text + 1) out.append(text, end);
  }

 private:
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

void append_map(std::string& out, const AttentionMap& map, const WeightWriter& writer) {
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

void append_maps(std::string& out, const AttentionMaps& maps, const WeightWriter& writer) {
  append_list(out, maps, [&](const auto& layer) {
    append_list(out, layer, [&](const AttentionMap& map) { append_map(out, map, writer); });
  });
}

const char* average_of(const Selection& selection) {
  return selection.mean_of_layers ? "all" : selection.mean_of_heads ? "heads" : "none";
}

}  // namespace

std::string format_record(const AttentionRecord& record, const Selection& selection, int digits) {
  Json head = {{"line", record.line},
               {"source", record.source},
               {"input", record.input},
               {"target", record.target},
               {"translation", record.translation},
               {"forced", record.forced},
               {"average", average_of(selection)},
               {"heads", selection.heads},
               {"layers", Json::object()}};
  for (const auto& [kind, layers] : selection.kinds) head["layers"][name_of(kind)] = layers;
  std::string out = to_text(head);
  out.pop_back();
  const WeightWriter writer(digits);
  for (size_t i = 0; i < selection.kinds.size(); ++i) {
    out += std::string(",\"") + name_of(selection.kinds[i].kind) + "\":";
    append_maps(out, record.maps.empty() ? AttentionMaps() : record.maps[i], writer);
  }
  return out + "}\n";
}

}  // namespace tx
