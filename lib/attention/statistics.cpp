#include "lib/attention/statistics.h"

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/utf8.h"
#include "lib/subword/vocabulary.h"

namespace tx {

namespace {

double times_log(double x) { return x > 0 ? x * std::log(x) : 0; }

// Whether a token or word is punctuation only, ignoring SentencePiece's space symbol.
bool is_punctuation(const std::string& token) {
  bool any = false;
  for (size_t i = 0; i < token.size();) {
    const char32_t c = next_code_point(token, i);
    if (c == 0x2581) continue;
    if (class_of(c) != CharacterClass::punctuation) return false;
    any = true;
  }
  return any;
}

// Properties of a map's rows and columns.
struct Sides {
  std::vector<bool> punctuation;             // of each column
  bool eos_column = false, eos_row = false;  // the last one is </s>
};

using Figure = HeadFigures::Figure;

// Adds the statistics of one row, except confidence.
void add_row(const AttentionMap& map, int64_t row, const Sides& sides,
             std::array<double, HeadFigures::count>& sums) {
  for (int64_t column = 0; column < map.columns; ++column) {
    const double weight = double(map.at(row, column));
    sums[Figure::entropy] -= times_log(weight);
    sums[Figure::distance] += weight * double(std::abs(row - column));
    if (column == row - 1) sums[Figure::previous] += weight;
    if (column == row) sums[Figure::self] += weight;
    if (column == row + 1) sums[Figure::next] += weight;
    if (column == 0) sums[Figure::first] += weight;
    if (sides.eos_column && column + 1 == map.columns) sums[Figure::eos] += weight;
    if (sides.punctuation[size_t(column)]) sums[Figure::punctuation] += weight;
  }
}

}  // namespace

AttentionStatistics::AttentionStatistics(const Selection& selection, bool pairs)
    : head_numbers_(selection.heads), pairs_(pairs), shift_(selection.shift) {
  TX_ASSERT(!selection.mean_of_heads);
  for (const Selection::Kind& chosen : selection.kinds) {
    const size_t count = chosen.layers.size() * head_numbers_.size();
    kinds_.push_back({chosen.kind, chosen.layers, std::vector<Sums>(count),
                      std::vector<double>(pairs ? count * count : 0)});
  }
}

void AttentionStatistics::add(const AttentionRecord& record) {
  if (record.maps.empty()) return;
  ++lines_;
  Selection labels;
  labels.shift = shift_;
  for (size_t k = 0; k < kinds_.size(); ++k) {
    Kind& kind = kinds_[k];
    const std::string rows = rows_of(kind.kind, labels), columns = columns_of(kind.kind);
    Sides sides;
    for (const std::string& token : tokens_of(record, columns))
      sides.punctuation.push_back(is_punctuation(token));
    sides.eos_column = columns == "source";
    sides.eos_row =
        rows == "source" || (rows == "target" && record.target_ids.back() == Vocabulary::eos);
    std::vector<const AttentionMap*> maps;
    for (const auto& layer : record.maps[k])
      for (const AttentionMap& map : layer) maps.push_back(&map);
    for (size_t h = 0; h < maps.size(); ++h) {
      const AttentionMap& map = *maps[h];
      Sums& sums = kind.heads[h];
      for (int64_t row = 0; row < map.rows; ++row) add_row(map, row, sides, sums.values);
      sums.rows += map.rows;
      const int64_t shown = map.columns - sides.eos_column;
      for (int64_t row = 0; row < map.rows - sides.eos_row && shown > 0; ++row) {
        const auto first = map.values.begin() + row * map.columns;
        sums.values[Figure::confidence] += double(*std::max_element(first, first + shown));
        ++sums.confident_rows;
      }
    }
    if (pairs_) add_distances(kind, maps);
  }
}

// sqrt(H(m) - (H(p) + H(q)) / 2), m being the mean of two rows p and q and H the entropy.
void AttentionStatistics::add_distances(Kind& kind, const std::vector<const AttentionMap*>& maps) {
  const int64_t columns = maps.front()->columns;
  for (int64_t row = 0; row < maps.front()->rows; ++row) {
    std::vector<double> entropy(maps.size());
    for (size_t h = 0; h < maps.size(); ++h)
      for (int64_t j = 0; j < columns; ++j) entropy[h] -= times_log(double(maps[h]->at(row, j)));
    for (size_t a = 0; a < maps.size(); ++a)
      for (size_t b = a + 1; b < maps.size(); ++b) {
        double divergence = -(entropy[a] + entropy[b]) / 2;
        for (int64_t j = 0; j < columns; ++j)
          divergence -= times_log((double(maps[a]->at(row, j)) + double(maps[b]->at(row, j))) / 2);
        kind.distances[a * maps.size() + b] += std::sqrt(std::max(0.0, divergence));
      }
  }
}

void AttentionStatistics::add(const AttentionStatistics& other) {
  TX_ASSERT(kinds_.size() == other.kinds_.size());
  lines_ += other.lines_;
  for (size_t k = 0; k < kinds_.size(); ++k) {
    const Kind& from = other.kinds_[k];
    for (size_t h = 0; h < from.heads.size(); ++h) {
      Sums& to = kinds_[k].heads[h];
      for (size_t i = 0; i < HeadFigures::count; ++i) to.values[i] += from.heads[h].values[i];
      to.rows += from.heads[h].rows;
      to.confident_rows += from.heads[h].confident_rows;
    }
    for (size_t i = 0; i < from.distances.size(); ++i) kinds_[k].distances[i] += from.distances[i];
  }
}

std::vector<HeadFigures> AttentionStatistics::heads() const {
  std::vector<HeadFigures> out;
  for (const Kind& kind : kinds_)
    for (size_t h = 0; h < kind.heads.size(); ++h) {
      const Sums& sums = kind.heads[h];
      HeadFigures figures{kind.kind,
                          kind.layers[h / head_numbers_.size()],
                          head_numbers_[h % head_numbers_.size()],
                          sums.rows,
                          {}};
      for (size_t i = 0; i < HeadFigures::count; ++i) {
        const int64_t over = i == Figure::confidence ? sums.confident_rows : sums.rows;
        figures.values[i] = over ? sums.values[i] / double(over) : 0;
      }
      out.push_back(figures);
    }
  return out;
}

std::vector<HeadPair> AttentionStatistics::pairs() const {
  TX_ASSERT(pairs_);
  std::vector<HeadPair> out;
  const size_t heads = head_numbers_.size();
  for (const Kind& kind : kinds_)
    for (size_t a = 0; a < kind.heads.size(); ++a)
      for (size_t b = a + 1; b < kind.heads.size(); ++b) {
        const int64_t rows = kind.heads[a].rows;
        const double sum = kind.distances[a * kind.heads.size() + b];
        out.push_back({kind.kind, kind.layers[a / heads], head_numbers_[a % heads],
                       kind.layers[b / heads], head_numbers_[b % heads],
                       rows ? sum / double(rows) : 0});
      }
  return out;
}

std::string heads_as_tsv(const AttentionStatistics& statistics, int digits) {
  std::string out = "kind\tlayer\thead\trows";
  for (const char* name : HeadFigures::names) out += std::string("\t") + name;
  out += "\n";
  for (const HeadFigures& h : statistics.heads()) {
    out += std::string(name_of(h.kind)) + "\t" + std::to_string(h.layer) + "\t" +
           std::to_string(h.head) + "\t" + std::to_string(h.rows);
    for (const double x : h.values) out += "\t" + figure(x, digits);
    out += "\n";
  }
  return out;
}

std::string pairs_as_tsv(const AttentionStatistics& statistics, int digits) {
  std::string out = "kind\tlayer\thead\tother_layer\tother_head\tdistance\n";
  for (const HeadPair& p : statistics.pairs()) {
    out += std::string(name_of(p.kind));
    for (const int number : {p.layer, p.head, p.other_layer, p.other_head})
      out += "\t" + std::to_string(number);
    out += "\t" + figure(p.distance, digits) + "\n";
  }
  return out;
}

Json heads_as_json(const AttentionStatistics& statistics) {
  Json heads = Json::array();
  for (const HeadFigures& h : statistics.heads()) {
    Json& head = heads.emplace_back(
        Json{{"kind", name_of(h.kind)}, {"layer", h.layer}, {"head", h.head}, {"rows", h.rows}});
    for (size_t i = 0; i < HeadFigures::count; ++i) head[HeadFigures::names[i]] = h.values[i];
  }
  return {{"lines", statistics.lines()}, {"heads", heads}};
}

Json pairs_as_json(const AttentionStatistics& statistics) {
  Json pairs = Json::array();
  for (const HeadPair& p : statistics.pairs())
    pairs.push_back(Json{{"kind", name_of(p.kind)},
                         {"layer", p.layer},
                         {"head", p.head},
                         {"other_layer", p.other_layer},
                         {"other_head", p.other_head},
                         {"distance", p.distance}});
  return {{"lines", statistics.lines()}, {"pairs", pairs}};
}

Json rounded(const Json& figures, int digits) {
  if (figures.is_number_float()) {
    const double unit = std::pow(10.0, digits);
    return std::round(figures.get<double>() * unit) / unit;
  }
  Json out = figures;
  if (!out.is_structured()) return out;
  for (Json& part : out) part = rounded(part, digits);
  return out;
}

}  // namespace tx
