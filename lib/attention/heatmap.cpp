#include "lib/attention/heatmap.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace tx {

namespace {

constexpr const char* shades[] = {" ", "\u2591", "\u2592", "\u2593", "\u2588"};
constexpr int levels = 4;  // shades above the blank
constexpr int longest_label = 16;
constexpr int narrow = 2;  // width of a column below a flight of steps,
constexpr int least = 3;   // and of one below its label, with the space after it

// Colours 232 (black) to 255 (white) are grey; this ramp of the 256 goes from dark blue to yellow.
constexpr int ramp[] = {17, 18, 19, 25, 31, 37, 43, 78, 113, 148, 184, 220, 226};
constexpr int ramp_size = int(std::size(ramp));

std::string repeat(const char* text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

std::string spaces(int count) { return std::string(size_t(std::max(0, count)), ' '); }

std::vector<std::string> labels_of(const std::vector<std::string>& pieces) {
  std::vector<std::string> out;
  for (const std::string& piece : pieces) out.push_back(shorten(piece, longest_label));
  return out;
}

int widest(const std::vector<std::string>& labels) {
  int width = 0;
  for (const std::string& label : labels) width = std::max(width, display_width(label));
  return width;
}

std::string two_decimals(float x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", double(x));
  return text;
}

class Drawing {
 public:
  Drawing(const AttentionMap& map, const std::vector<std::string>& rows,
          const std::vector<std::string>& columns, const HeatmapStyle& style)
      : map_(map), rows_(labels_of(rows)), columns_(labels_of(columns)), style_(style) {
    margin_ = widest(rows_) + 1;
    largest_ = *std::max_element(map.weights.begin(), map.weights.end());
    int needed = margin_;
    for (size_t i = 0; i < columns_.size(); ++i) needed += labelled_width(i);
    steps_ = needed > style.width;
  }

  std::string draw() const {
    std::string out;
    // The label of the last step reaches beyond its column.
    const int room = style_.width - margin_ - std::max(0, widest(columns_) - narrow);
    const int64_t part = steps_ ? std::max(1, room / narrow) : map_.columns;
    for (int64_t first = 0; first < map_.columns; first += part) {
      const int64_t end = std::min(map_.columns, first + part);
      if (first > 0) out += "\n";
      out += steps_ ? flight_of_steps(first, end) : one_line();
      for (int64_t row = 0; row < map_.rows; ++row) out += cells(row, first, end);
    }
    return out + legend();
  }

 private:
  int labelled_width(size_t column) const {
    return std::max(least, display_width(columns_[column]) + 1);
  }

  std::string one_line() const {
    std::string out = spaces(margin_);
    for (size_t i = 0; i < columns_.size(); ++i) {
      out += columns_[i] + spaces(labelled_width(i) - display_width(columns_[i]));
    }
    return trimmed(out);
  }

  // Each column's label on a line of its own, above the strokes that lead down from those before.
  std::string flight_of_steps(int64_t first, int64_t end) const {
    std::string out;
    for (int64_t label = first; label < end; ++label) {
      out += spaces(margin_);
      for (int64_t column = first; column < label; ++column) out += "\u2502" + spaces(narrow - 1);
      out += columns_[size_t(label)] + "\n";
    }
    return out;
  }

  std::string cells(int64_t row, int64_t first, int64_t end) const {
    const std::string& label = rows_[size_t(row)];
    std::string out = spaces(margin_ - 1 - display_width(label)) + label + " ";
    for (int64_t column = first; column < end; ++column) {
      // Below steps the columns touch, so that a map keeps the look of a picture.
      out += steps_ ? cell(map_.at(row, column), narrow)
                    : cell(map_.at(row, column), labelled_width(size_t(column)) - 1) + " ";
    }
    return trimmed(out);
  }

  std::string cell(float weight, int width) const {
    const float share = largest_ > 0 ? weight / largest_ : 0;
    const int level = int(std::lround(share * levels));
    if (level == 0) return spaces(width);
    const std::string blocks = repeat(shades[level], width);
    if (!style_.color) return blocks;
    const int hue = ramp[std::lround(share * (ramp_size - 1))];
    return "\x1b[38;5;" + std::to_string(hue) + "m" + blocks + "\x1b[0m";
  }

  std::string legend() const {
    std::string out = "largest " + two_decimals(largest_) + ";";
    for (int level = 1; level <= levels; ++level) {
      const float weight = largest_ * float(level) / levels;
      out += " " + cell(weight, 1) + " " + two_decimals(weight);
    }
    return out + "\n";
  }

  static std::string trimmed(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  }

  const AttentionMap& map_;
  std::vector<std::string> rows_, columns_;
  HeatmapStyle style_;
  int margin_;
  float largest_;
  bool steps_;  // labels of columns do not fit side by side
};

std::string title(const AttentionRecord& record, const Selection& selection) {
  const auto& [kind, layers] = selection.kinds.front();
  std::string out = "line " + std::to_string(record.line) + ": " + name_of(kind);
  const std::string n = std::to_string(layers.size());
  out += selection.mean_of_layers ? ", mean of " + n + (n == "1" ? " layer" : " layers")
                                  : ", layer " + std::to_string(layers.front());
  const std::string h = std::to_string(selection.heads.size());
  out += selection.mean_of_heads ? ", mean of " + h + (h == "1" ? " head" : " heads")
                                 : ", head " + std::to_string(selection.heads.front());
  return out;
}

}  // namespace

HeatmapStyle terminal_style() {
  HeatmapStyle style;
  winsize size{};
  const char* columns = std::getenv("COLUMNS");
  if (::ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = size.ws_col;
  } else if (columns && std::atoi(columns) > 0) {
    style.width = std::atoi(columns);
  }
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  style.color = ::isatty(1) == 1 && (no_color == nullptr || *no_color == '\0') &&
                (term == nullptr || std::strcmp(term, "dumb") != 0);
  return style;
}

std::string draw_heatmap(const AttentionRecord& record, const Selection& selection,
                         const HeatmapStyle& style) {
  if (record.maps.empty()) return "line " + std::to_string(record.line) + ": blank\n";
  const AttentionKind kind = selection.kinds.front().kind;
  const bool encoder = kind == AttentionKind::encoder;
  // A row of the decoder stands for the piece that it predicts.
  const auto& rows = encoder ? record.source : record.target;
  const auto& columns = kind == AttentionKind::decoder ? record.input : record.source;
  const char* sides = encoder ? "; columns and rows: source\n"
                      : kind == AttentionKind::decoder
                          ? "; columns: target read, rows: piece predicted\n"
                          : "; columns: source, rows: piece predicted\n";
  const AttentionMap& map = record.maps.front().front().front();
  return title(record, selection) + sides + Drawing(map, rows, columns, style).draw();
}

}  // namespace tx
