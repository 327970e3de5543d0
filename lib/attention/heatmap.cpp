#include "lib/attention/heatmap.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "lib/base/figure.h"
#include "lib/base/utf8.h"

namespace tx {

namespace {

struct Range {
  char32_t first, last;
};

// Blocks of East Asian wide characters and emoji (Unicode's EastAsianWidth W and F, by block).
constexpr Range wide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},  {0xA960, 0xA97F}, {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},  {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
// Combining marks of common scripts, joiners and variation selectors.
constexpr Range zero[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F},
                          {0x0670, 0x0670}, {0x093C, 0x093C}, {0x0941, 0x0948}, {0x094D, 0x094D},
                          {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x200B, 0x200F},
                          {0x20D0, 0x20FF}, {0x302A, 0x302D}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};

template <size_t N>
bool in(const Range (&ranges)[N], char32_t c) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [c](const Range& r) { return c >= r.first && c <= r.last; });
}

int width_of(char32_t c) { return in(zero, c) ? 0 : in(wide, c) ? 2 : 1; }

constexpr const char* shades[] = {" ", "\u2591", "\u2592", "\u2593", "\u2588"};
// Shades above blank: one per block, or twice as many with colours.
constexpr int blocks = 4, colours = 8;
constexpr int always_shown = 16;  // minimum width of labels
constexpr int narrow = 2;         // width of a column with staggered labels
constexpr int min = 3;            // minimum width of a column below its own label, with a space

// Indices into the terminal's 256 colours, from dark blue to yellow, increasing in lightness.
constexpr int ramp[colours] = {18, 25, 31, 37, 78, 148, 184, 226};

std::string repeat(const char* text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

std::string spaces(int count) { return std::string(size_t(std::max(0, count)), ' '); }

// Tokens, shortened to the larger of always_shown and a third of the drawing.
std::vector<std::string> labels_of(const std::vector<std::string>& tokens, int width) {
  std::vector<std::string> out;
  for (const std::string& token : tokens)
    out.push_back(shorten(token, std::max(always_shown, width / 3)));
  return out;
}

// Without control characters, which terminals and XML do not accept: U+2400 to U+2421 or U+FFFD.
std::string drawable(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const char32_t c = next_code_point(text, i);
    append_code_point(out, c < 0x20                     ? 0x2400 + c
                           : c == 0x7F                  ? 0x2421
                           : is_control(c)              ? 0xFFFD
                           : c == 0xFFFE || c == 0xFFFF ? 0xFFFD
                                                        : c);
  }
  return out;
}

// The full text of shortened labels, one per line.
std::string in_full(const std::vector<std::string>& tokens, const std::vector<std::string>& labels,
                    const char* of) {
  std::string out;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (labels[i] == tokens[i]) continue;
    out += std::string(of) + " " + std::to_string(i) + " is " + drawable(tokens[i]) + "\n";
  }
  return out;
}

int widest(const std::vector<std::string>& labels) {
  int width = 0;
  for (const std::string& label : labels) width = std::max(width, display_width(label));
  return width;
}

class Drawing {
 public:
  Drawing(const AttentionMap& map, const std::vector<std::string>& rows,
          const std::vector<std::string>& columns, const HeatmapStyle& style)
      : map_(map),
        rows_(labels_of(rows, style.width)),
        columns_(labels_of(columns, style.width)),
        style_(style),
        levels_(style.color ? colours : blocks) {
    if (&rows == &columns)
      note_ = in_full(rows, rows_, "token");
    else
      note_ = in_full(rows, rows_, "row") + in_full(columns, columns_, "column");
    margin_ = widest(rows_) + 1;
    largest_ = *std::max_element(map.values.begin(), map.values.end());
    int needed = margin_;
    for (size_t i = 0; i < columns_.size(); ++i) needed += labelled_width(i);
    steps_ = needed > style.width;
  }

  std::string draw() const {
    std::string out;
    // The last staggered label extends beyond its column.
    const int available = style_.width - margin_ - std::max(0, widest(columns_) - narrow);
    const int64_t part = steps_ ? std::max(1, available / narrow) : map_.columns;
    for (int64_t first = 0; first < map_.columns; first += part) {
      const int64_t end = std::min(map_.columns, first + part);
      if (first > 0) out += "\n";
      out += steps_ ? flight_of_steps(first, end) : one_line();
      for (int64_t row = 0; row < map_.rows; ++row) out += cells(row, first, end);
    }
    return out + legend() + note_;
  }

 private:
  int labelled_width(size_t column) const {
    return std::max(min, display_width(columns_[column]) + 1);
  }

  std::string one_line() const {
    std::string out = spaces(margin_);
    for (size_t i = 0; i < columns_.size(); ++i)
      out += columns_[i] + spaces(labelled_width(i) - display_width(columns_[i]));
    return trimmed(out);
  }

  // Staggered labels: each on its own line, with strokes leading down to the columns before it.
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
      // Below staggered labels there are no gaps between columns.
      out += steps_ ? cell(map_.at(row, column), narrow)
                    : cell(map_.at(row, column), labelled_width(size_t(column)) - 1) + " ";
    }
    return trimmed(out);
  }

  std::string cell(float weight, int width) const {
    const float share = largest_ > 0 ? weight / largest_ : 0;
    const int level = int(std::lround(share * float(levels_)));
    if (level == 0) return spaces(width);
    const std::string drawn = repeat(shades[(level * blocks + levels_ - 1) / levels_], width);
    if (!style_.color) return drawn;
    return "\x1b[38;5;" + std::to_string(ramp[level - 1]) + "m" + drawn + "\x1b[0m";
  }

  // With enough decimal places for two significant digits of the smallest shade.
  std::string legend() const {
    const double min_weight = double(largest_) / levels_;
    const int digits =
        min_weight > 0 ? int(std::max(2.0, 1 - std::floor(std::log10(min_weight)))) : 2;
    std::string out = "largest " + figure(largest_, digits) + ";";
    for (int level = 1; level <= levels_; ++level) {
      const float weight = largest_ * float(level) / float(levels_);
      out += " " + cell(weight, 1) + " " + figure(weight, digits);
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
  int levels_;
  std::string note_;  // the full text of shortened labels
  int margin_;
  float largest_;
  bool steps_;  // staggered labels: they do not fit side by side
};

// The title of a map, by its indices in the selection.
std::string title(const AttentionRecord& record, const Selection& selection, size_t kind,
                  size_t layer, size_t head) {
  const auto& layers = selection.kinds[kind].layers;
  std::string out =
      "line " + std::to_string(record.line) + ": " + name_of(selection.kinds[kind].kind);
  const std::string n = std::to_string(layers.size());
  out += selection.mean_of_layers ? ", mean of " + n + (n == "1" ? " layer" : " layers")
                                  : ", layer " + std::to_string(layers[layer]);
  const std::string h = std::to_string(selection.heads.size());
  out += selection.mean_of_heads ? ", mean of " + h + (h == "1" ? " head" : " heads")
                                 : ", head " + std::to_string(selection.heads[head]);
  return out;
}

// All maps of one kind.
std::string draw_kind(const AttentionRecord& record, const Selection& selection, size_t place,
                      const HeatmapStyle& style) {
  const AttentionKind kind = selection.kinds[place].kind;
  const bool encoder = kind == AttentionKind::encoder;
  const auto& rows = tokens_of(record, rows_of(kind, selection));
  const auto& columns = tokens_of(record, columns_of(kind));
  const std::string sides =
      encoder ? "; columns and rows: source\n"
              : std::string("; columns: ") +
                    (kind == AttentionKind::decoder ? "target read" : "source") + ", rows: token " +
                    (selection.shift ? "read\n" : "predicted\n");
  std::string out;
  const AttentionMaps& maps = record.maps[place];
  for (size_t layer = 0; layer < maps.size(); ++layer) {
    for (size_t head = 0; head < maps[layer].size(); ++head) {
      if (!out.empty()) out += "\n";
      out += title(record, selection, place, layer, head) + sides;
      out += Drawing(maps[layer][head], rows, columns, style).draw();
    }
  }
  return out;
}

}  // namespace

HeatmapStyle terminal_style() {
  HeatmapStyle style;
  winsize size{};
  const char* columns = std::getenv("COLUMNS");
  if (::ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = size.ws_col;
  else if (columns && std::atoi(columns) > 0)
    style.width = std::atoi(columns);
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  style.color = ::isatty(1) == 1 && (no_color == nullptr || *no_color == '\0') &&
                (term == nullptr || std::strcmp(term, "dumb") != 0);
  return style;
}

std::string draw_heatmap(const AttentionRecord& record, const Selection& selection,
                         const HeatmapStyle& style) {
  if (record.maps.empty()) return "line " + std::to_string(record.line) + ": blank\n";
  std::string out;
  for (size_t kind = 0; kind < record.maps.size(); ++kind)
    out += (kind > 0 ? "\n" : "") + draw_kind(record, selection, kind, style);
  return out;
}

int display_width(std::string_view text) {
  int width = 0;
  for (size_t i = 0; i < text.size();) width += width_of(next_code_point(text, i));
  return width;
}

std::string shorten(const std::string& label, int columns) {
  const std::string text = drawable(label);
  if (display_width(text) <= columns) return text;
  size_t end = 0;
  for (int used = 1; end < text.size();) {  // 1: the dots
    size_t next = end;
    used += width_of(next_code_point(text, next));
    if (used > columns) break;
    end = next;
  }
  return text.substr(0, end) + "\u2026";
}

}  // namespace tx
