#include "lib/attention/svg.h"

#include <algorithm>

#include "lib/attention/heatmap.h"
#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/json.h"
#include "lib/base/split.h"
#include "lib/page/page.h"

namespace tx {

namespace {

constexpr double step = 21;         // between tokens
constexpr double letter = 7;        // width of a letter of a label
constexpr double lines_high = 150;  // between the two texts
constexpr double field_high = 7;    // of one head, above a key
constexpr double caption_high = 22, margin = 8;
constexpr double min_weight = 0.01, max_min_weight = 0.1;  // of a drawn line, min_line()
constexpr double widest_line = 3, min_width = 0.4;         // of weight 1 and 0
constexpr int longest_label = 22;                          // letters

std::string label_of(const std::string& token) {
  const std::string space = "\u2581";
  return shorten(token.starts_with(space) && token != space ? token.substr(space.size()) : token,
                 longest_label);
}

std::vector<std::string> labels_of(const std::vector<std::string>& tokens) {
  std::vector<std::string> out;
  for (const std::string& token : tokens) out.push_back(label_of(token));
  return out;
}

double longest(const std::vector<std::string>& labels) {
  int columns = 0;
  for (const std::string& label : labels) columns = std::max(columns, display_width(label));
  return letter * columns;
}

// Which rows are drawn.
std::vector<bool> rows_drawn(const AttentionRecord& record, const std::vector<std::string>& tokens,
                             const std::string& token) {
  std::vector<bool> out(tokens.size(), token.empty());
  if (token.empty()) return out;
  size_t number = 0;
  const bool is_number = parse_number(token, number);
  bool any = false;
  for (size_t i = 0; i < tokens.size(); ++i) {
    out[i] = tokens[i] == token || tokens[i] == "\u2581" + token;
    any = any || out[i];
  }
  if (!any && is_number && number < tokens.size()) out[number] = any = true;
  if (any) return out;
  std::string all;
  for (size_t i = 0; i < std::min<size_t>(tokens.size(), 20); ++i) all += " " + shown(tokens[i]);
  throw DataError("line " + std::to_string(record.line) + ": --token " + shown(token) +
                  " is not among the queries:" + all + (tokens.size() > 20 ? " ..." : ""));
}

// The smallest weight with a line. It rises with the number of heads, to keep them apart.
double min_line(size_t heads) { return std::min(min_weight * double(heads), max_min_weight); }

struct Head {
  const AttentionMap* map;
  std::string name, colour;
};

class HeadsDrawing {
 public:
  HeadsDrawing(std::vector<Head> heads, std::vector<std::string> rows,
               std::vector<std::string> columns, std::vector<bool> drawn)
      : heads_(std::move(heads)),
        rows_(std::move(rows)),
        columns_(std::move(columns)),
        drawn_(std::move(drawn)) {
    top_ = caption_high + margin + longest(rows_);
    fields_ = top_ + 6 + lines_high;
    bottom_ = fields_ + field_high * double(heads_.size()) + 4;
    apart_ = std::min(widest_line, (step - 3) / double(heads_.size()));
    legend_ = margin + step * double(std::max(rows_.size(), columns_.size())) + 18;
  }

  SvgDrawing draw(const std::string& caption) const {
    SvgDrawing out;
    out.width = legend_ + 72;
    out.height = bottom_ + margin + longest(columns_);
    out.elements = formatted("<text x=\"%g\" y=\"14\" class=\"caption\">", margin) +
                   html_escaped(caption) + "</text>\n";
    for (size_t i = 0; i < rows_.size(); ++i)
      out.elements += text(rows_[i], x(i), top_, "start", drawn_[i] ? "" : "other");
    for (size_t j = 0; j < columns_.size(); ++j)
      out.elements += text(columns_[j], x(j), bottom_, "end", "");
    out.elements += lines();
    for (size_t h = 0; h < heads_.size(); ++h) out.elements += fields(h) + legend(h);
    return out;
  }

 private:
  static double x(size_t token) { return margin + step * (double(token) + 0.5); }

  // A label written upwards that starts at `y` (anchor "start") or ends there ("end").
  static std::string text(const std::string& label, double at, double y, const char* anchor,
                          const char* name) {
    return formatted(
               "<text transform=\"translate(%g %g) rotate(-90)\" text-anchor=\"%s\" class=\"%s\">",
               at + 4, y, anchor, name) +
           html_escaped(label) + "</text>\n";
  }

  struct Line {
    double weight;
    size_t head, row, column;
  };

  // The heads' lines of a pair of tokens lie side by side, strong lines over weak ones.
  std::string lines() const {
    std::vector<Line> all;
    for (size_t h = 0; h < heads_.size(); ++h)
      for (size_t i = 0; i < rows_.size(); ++i)
        for (size_t j = 0; drawn_[i] && j < columns_.size(); ++j) {
          const double weight = double(heads_[h].map->at(int64_t(i), int64_t(j)));
          if (weight >= min_line(heads_.size())) all.push_back({weight, h, i, j});
        }
    std::stable_sort(all.begin(), all.end(),
                     [](const Line& a, const Line& b) { return a.weight < b.weight; });
    std::string out;
    for (const Line& line : all) {
      const double aside = apart_ * (double(line.head) - double(heads_.size() - 1) / 2);
      const double width = min_width + std::max(0.0, apart_ - min_width) * line.weight;
      out += formatted("<path d=\"M%g %gL%g %g\" stroke=\"%s\" stroke-width=\"%.2f\" ",
                       x(line.row) + aside, top_ + 6, x(line.column) + aside, fields_ - 2,
                       heads_[line.head].colour.c_str(), width) +
             formatted("stroke-opacity=\"%.2f\"/>\n", 0.1 + 0.9 * line.weight);
    }
    return out;
  }

  // The mean weight of each key over the drawn rows.
  std::string fields(size_t h) const {
    const auto rows = double(std::count(drawn_.begin(), drawn_.end(), true));
    std::string out = "<g fill=\"" + heads_[h].colour + "\">\n";
    for (size_t j = 0; j < columns_.size(); ++j) {
      double weight = 0;
      for (size_t i = 0; i < rows_.size(); ++i)
        if (drawn_[i]) weight += double(heads_[h].map->at(int64_t(i), int64_t(j))) / rows;
      if (weight < min_weight) continue;
      out += formatted(
          "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill-opacity=\"%.2f\"/>\n",
          x(j) - step / 2 + 1, fields_ + field_high * double(h), step - 2, field_high - 1, weight);
    }
    return out + "</g>\n";
  }

  std::string legend(size_t h) const {
    const double y = top_ + 14 + 15 * double(h);
    return formatted("<rect x=\"%g\" y=\"%g\" width=\"9\" height=\"9\" fill=\"%s\"/>", legend_,
                     y - 9, heads_[h].colour.c_str()) +
           formatted("<text x=\"%g\" y=\"%g\">", legend_ + 14, y) + html_escaped(heads_[h].name) +
           "</text>\n";
  }

  std::vector<Head> heads_;
  std::vector<std::string> rows_, columns_;
  std::vector<bool> drawn_;
  double top_, fields_, bottom_, legend_;  // vertical positions of texts, fields and legend
  double apart_;                           // distance of the lines of two heads
};

std::string head_name(const Selection& selection, size_t head) {
  return selection.mean_of_heads ? "mean" : "head " + std::to_string(selection.heads[head]);
}

}  // namespace

std::vector<SvgDrawing> svg_drawings(const AttentionRecord& record, const Selection& selection,
                                     const SvgStyle& style) {
  std::vector<SvgDrawing> out;
  for (size_t k = 0; k < record.maps.size(); ++k) {
    const auto& [kind, layers] = selection.kinds[k];
    const auto& rows = tokens_of(record, rows_of(kind, selection));
    const std::vector<bool> drawn = rows_drawn(record, rows, style.token);
    for (size_t layer = 0; layer < record.maps[k].size(); ++layer) {
      std::vector<Head> heads;
      for (size_t h = 0; h < record.maps[k][layer].size(); ++h)
        heads.push_back({&record.maps[k][layer][h], head_name(selection, h),
                         distinct_colour(selection.mean_of_heads ? 0 : selection.heads[h])});
      const std::string caption =
          "line " + std::to_string(record.line) + ": " + name_of(kind) + ", layer " +
          (selection.mean_of_layers ? "mean" : std::to_string(layers[layer]));
      const auto draw = [&, kind = kind](std::vector<Head> some, const std::string& text) {
        out.push_back(HeadsDrawing(std::move(some), labels_of(rows),
                                   labels_of(tokens_of(record, columns_of(kind))), drawn)
                          .draw(text));
      };
      if (!style.apart) {
        draw(heads, caption);
        continue;
      }
      for (const Head& head : heads) draw({head}, caption + ", " + head.name);
    }
  }
  return out;
}

std::string svg_file(const std::vector<SvgDrawing>& drawings) {
  double width = 0, height = 0;
  std::string out;
  for (const SvgDrawing& drawing : drawings) {
    out += formatted("<g transform=\"translate(0 %g)\">\n", height) + drawing.elements + "</g>\n";
    width = std::max(width, drawing.width);
    height += drawing.height;
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"" +
         formatted(" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\">\n", width, height, width,
                   height) +
         "<style>text{font:12px Helvetica,Arial,sans-serif;fill:#1b1f24}"
         ".caption{font-size:11px;fill:#59626d}.other{fill:#9aa2ab}path{fill:none}</style>\n"
         "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" +
         out + "</svg>\n";
}

SvgOutput::SvgOutput(const DumpOptions& options, const Selection& selection)
    : options_(options), selection_(selection) {}

AttentionOutput::Write SvgOutput::prepare(const AttentionRecord& record) {
  auto drawings = svg_drawings(record, selection_, {options_.token, options_.apart});
  return [this, drawings = std::move(drawings)] {
    drawings_.insert(drawings_.end(), drawings.begin(), drawings.end());
    if (drawings_.size() > max_drawings)
      throw DataError("more than " + std::to_string(max_drawings) +
                      " drawings in one picture: select fewer lines, layers or heads");
  };
}

void SvgOutput::finish() {
  if (drawings_.empty()) throw DataError("the text has only blank lines");
  write_atomically(options_.svg, svg_file(drawings_));
}

}  // namespace tx
