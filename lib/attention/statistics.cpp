#include "lib/attention/statistics.h"

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/split.h"
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

using Figure = HeadFigures::Figure;
using Columns = std::vector<size_t>;

// Properties of a map's rows and columns.
struct Sides {
  std::vector<bool> punctuation;             // of each column
  bool eos_column = false, eos_row = false;  // the last one is </s>
  std::vector<Columns> equal, induction;     // for each row
  Columns rarest;                            // empty without frequencies
};

Sides sides_of(const AttentionRecord& record, AttentionKind kind, const Selection& labels,
               const TokenFrequencies* frequencies) {
  const std::string row_list = rows_of(kind, labels), column_list = columns_of(kind);
  const bool self = kind != AttentionKind::cross, decoder = kind == AttentionKind::decoder;
  const std::vector<std::string>& columns = tokens_of(record, column_list);
  const std::vector<std::string>& labels_of_rows = tokens_of(record, row_list);
  const std::vector<std::string>& rows = self ? columns : labels_of_rows;
  Sides out;
  std::unordered_map<std::string_view, Columns> found;
  for (size_t column = 0; column < columns.size(); ++column) {
    out.punctuation.push_back(is_punctuation(columns[column]));
    found[columns[column]].push_back(column);
  }
  // The text of a model of kind encoder begins with <s> and has no </s>.
  const auto ends = [&](const std::string& list) {
    const std::vector<int>& ids = list == "source" ? record.source_ids : record.target_ids;
    return list != "input" && !ids.empty() && ids.back() == Vocabulary::eos;
  };
  out.eos_column = ends(column_list);
  out.eos_row = ends(row_list);
  out.equal.resize(labels_of_rows.size());
  out.induction.resize(labels_of_rows.size());
  // In words the lists may differ in length by one.
  for (size_t row = 0; row < std::min(rows.size(), labels_of_rows.size()); ++row)
    for (const size_t column : found[rows[row]]) {
      const bool visible = !decoder || column < row;
      if (visible && (!self || column != row)) out.equal[row].push_back(column);
      if (decoder && column < row) out.induction[row].push_back(column + 1);
    }
  if (!frequencies) return out;
  const auto& counts = column_list == "source" ? frequencies->source : frequencies->input;
  const auto count = [&](const std::string& token) {
    const auto at = counts.find(token);
    return at == counts.end() ? 0 : at->second;
  };
  int64_t lowest = count(columns.front());
  for (const std::string& token : columns) lowest = std::min(lowest, count(token));
  for (size_t column = 0; column < columns.size(); ++column)
    if (count(columns[column]) == lowest) out.rarest.push_back(column);
  return out;
}

double sum_of(const AttentionMap& map, int64_t row, const Columns& columns) {
  double sum = 0;
  for (const size_t column : columns) sum += double(map.at(row, int64_t(column)));
  return sum;
}

// Sums over rows, and the number of rows in each.
struct RowSums {
  std::array<double, HeadFigures::count>& values;
  std::array<int64_t, HeadFigures::count>& rows;
  void add(Figure figure, double value) {
    values[figure] += value;
    ++rows[figure];
  }
};

void add_row(const AttentionMap& map, int64_t row, const Sides& sides, RowSums sums) {
  double entropy = 0, distance = 0, punctuation = 0;
  for (int64_t column = 0; column < map.columns; ++column) {
    const double weight = double(map.at(row, column));
    entropy -= times_log(weight);
    distance += weight * double(std::abs(row - column));
    if (sides.punctuation[size_t(column)]) punctuation += weight;
  }
  const auto weight_of = [&](int64_t column) {
    return column < 0 || column >= map.columns ? 0.0 : double(map.at(row, column));
  };
  sums.add(Figure::entropy, entropy);
  sums.add(Figure::distance, distance);
  sums.add(Figure::previous, weight_of(row - 1));
  sums.add(Figure::self, weight_of(row));
  sums.add(Figure::next, weight_of(row + 1));
  sums.add(Figure::first, weight_of(0));
  sums.add(Figure::eos, sides.eos_column ? weight_of(map.columns - 1) : 0);
  sums.add(Figure::punctuation, punctuation);
  const int64_t shown = map.columns - sides.eos_column;
  if (shown > 0 && row < map.rows - sides.eos_row) {
    const auto first = map.values.begin() + row * map.columns;
    sums.add(Figure::confidence, double(*std::max_element(first, first + shown)));
  }
  const Columns &equal = sides.equal[size_t(row)], &induction = sides.induction[size_t(row)];
  if (!equal.empty()) sums.add(Figure::equal, sum_of(map, row, equal));
  if (!induction.empty()) sums.add(Figure::induction, sum_of(map, row, induction));
  if (!sides.rarest.empty())
    sums.add(Figure::rarest, sum_of(map, row, sides.rarest) / double(sides.rarest.size()));
}

}  // namespace

void TokenFrequencies::add(const AttentionRecord& record) {
  for (const std::string& token : record.source) ++source[token];
  for (const std::string& token : record.input) ++input[token];
}

AttentionStatistics::AttentionStatistics(const Selection& selection, bool pairs,
                                         const TokenFrequencies* frequencies)
    : head_numbers_(selection.heads),
      pairs_(pairs),
      shift_(selection.shift),
      frequencies_(frequencies) {
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
    const Sides sides = sides_of(record, kind.kind, labels, frequencies_);
    std::vector<const AttentionMap*> maps;
    for (const auto& layer : record.maps[k])
      for (const AttentionMap& map : layer) maps.push_back(&map);
    for (size_t h = 0; h < maps.size(); ++h)
      for (int64_t row = 0; row < maps[h]->rows; ++row)
        add_row(*maps[h], row, sides, {kind.heads[h].values, kind.heads[h].rows});
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
      for (size_t i = 0; i < HeadFigures::count; ++i) {
        to.values[i] += from.heads[h].values[i];
        to.rows[i] += from.heads[h].rows[i];
      }
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
                          sums.rows[Figure::entropy],
                          {}};
      for (size_t i = 0; i < HeadFigures::count; ++i)
        figures.values[i] = sums.rows[i] ? sums.values[i] / double(sums.rows[i]) : 0;
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
        const int64_t rows = kind.heads[a].rows[Figure::entropy];
        const double sum = kind.distances[a * kind.heads.size() + b];
        out.push_back({kind.kind, kind.layers[a / heads], head_numbers_[a % heads],
                       kind.layers[b / heads], head_numbers_[b % heads],
                       rows ? sum / double(rows) : 0});
      }
  return out;
}

std::string FigureTable::text(bool as_json, int digits) const {
  if (as_json) return to_text(rounded(json(), digits)) + "\n";
  std::string out = joined(columns, "\t");
  for (const Json& row : rows) {
    std::string between = "\n";
    for (const Json& x : row) {
      out += between;
      out += x.is_string()         ? x.get<std::string>()
             : x.is_number_float() ? figure(x.get<double>(), digits)
                                   : to_text(x);
      between = "\t";
    }
  }
  return out + "\n";
}

Json FigureTable::json() const {
  Json out = facts;
  Json& objects = out[name] = Json::array();
  for (const Json& row : rows) {
    Json& object = objects.emplace_back(Json::object());
    for (size_t i = 0; i < columns.size(); ++i) object[columns[i]] = row[i];
  }
  return out;
}

FigureTable heads_table(const AttentionStatistics& statistics) {
  FigureTable out{"heads", {{"lines", statistics.lines()}}, {"kind", "layer", "head", "rows"}};
  const size_t figures = statistics.figures();
  out.columns.insert(out.columns.end(), HeadFigures::names, HeadFigures::names + figures);
  for (const HeadFigures& h : statistics.heads()) {
    out.rows.push_back({name_of(h.kind), h.layer, h.head, h.rows});
    for (size_t i = 0; i < figures; ++i) out.rows.back().push_back(h.values[i]);
  }
  return out;
}

FigureTable pairs_table(const AttentionStatistics& statistics) {
  FigureTable out{"pairs",
                  {{"lines", statistics.lines()}},
                  {"kind", "layer", "head", "other_layer", "other_head", "distance"}};
  for (const HeadPair& p : statistics.pairs())
    out.rows.push_back({name_of(p.kind), p.layer, p.head, p.other_layer, p.other_head, p.distance});
  return out;
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

ScoreStatistics::ScoreStatistics(const Selection& selection) {
  for (const Selection::Kind& chosen : selection.kinds)
    for (const int layer : chosen.layers)
      for (const int head : selection.heads) sums_.push_back({chosen.kind, layer, head});
}

void ScoreStatistics::add(const AttentionRecord& record) {
  if (record.parts.empty()) return;
  ++lines_;
  const auto& scores = record.of(Quantity::scores);
  const auto& scaled = record.of(Quantity::scaled);
  const auto& masked = record.of(Quantity::masked);
  auto sums = sums_.begin();
  for (size_t kind = 0; kind < scores.size(); ++kind)
    for (size_t layer = 0; layer < scores[kind].size(); ++layer)
      for (size_t head = 0; head < scores[kind][layer].size(); ++head, ++sums) {
        const std::vector<float>& raw = scores[kind][layer][head].values;
        for (size_t i = 0; i < raw.size(); ++i) {
          if (std::isinf(masked[kind][layer][head].values[i])) continue;
          const double x = raw[i], y = scaled[kind][layer][head].values[i];
          ++sums->count;
          sums->scores += x;
          sums->squares += x * x;
          sums->scaled += y;
          sums->scaled_squares += y * y;
        }
      }
  TX_ASSERT(sums == sums_.end());
}

void ScoreStatistics::add(const ScoreStatistics& other) {
  TX_ASSERT(sums_.size() == other.sums_.size());
  lines_ += other.lines_;
  for (size_t i = 0; i < sums_.size(); ++i) {
    const Sums& from = other.sums_[i];
    sums_[i].count += from.count;
    sums_[i].scores += from.scores;
    sums_[i].squares += from.squares;
    sums_[i].scaled += from.scaled;
    sums_[i].scaled_squares += from.scaled_squares;
  }
}

std::vector<HeadScores> ScoreStatistics::heads() const {
  std::vector<HeadScores> out;
  for (const Sums& s : sums_) {
    const double n = double(std::max<int64_t>(1, s.count));
    const auto variance = [n](double sum, double squares) {
      return std::max(0.0, squares / n - (sum / n) * (sum / n));
    };
    out.push_back({s.kind, s.layer, s.head, s.count, s.scores / n, variance(s.scores, s.squares),
                   variance(s.scaled, s.scaled_squares)});
  }
  return out;
}

FigureTable scores_table(const ScoreStatistics& statistics) {
  FigureTable out{"heads",
                  {{"lines", statistics.lines()}},
                  {"kind", "layer", "head", "scores", "mean", "variance", "scaled_variance"}};
  for (const HeadScores& h : statistics.heads())
    out.rows.push_back(
        {name_of(h.kind), h.layer, h.head, h.scores, h.mean, h.variance, h.scaled_variance});
  return out;
}

}  // namespace tx
