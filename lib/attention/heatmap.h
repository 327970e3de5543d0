// Attention maps drawn in the terminal with block characters, darker for larger weights:
//
//   line 1: cross, layer 5, mean of 8 heads; columns: source, rows: token predicted
//             ▁two ▁hundred </s>
//        ▁zwei ████ ░░░░░░░░
//   ...
//   largest 0.87; ░ 0.22 ▒ 0.43 ▓ 0.65 █ 0.87
//
// Four shades, or eight colours. A token wider than both 16 columns and a third of the drawing
// is shortened, and listed in full below it with its index. If the column labels do not fit side by
// side they are staggered, one per line, above narrow columns; if even those do not fit, the map is
// drawn in several parts, one below another.
#pragma once
#include <string>

#include "lib/attention/record.h"

namespace tx {

struct HeatmapStyle {
  int width = 80;      // columns of the terminal
  bool color = false;  // ANSI colours (256)
};

// The style for standard output: width of the terminal, else $COLUMNS, else 80; colours as usual.
HeatmapStyle terminal_style();

// Draws every map of the record, separated by empty lines. A blank line has only a title.
std::string draw_heatmap(const AttentionRecord& record, const Selection& selection,
                         const HeatmapStyle& style);

// Columns of a text in a terminal: 2 for wide characters and emoji, 0 for combining marks, else 1.
int display_width(std::string_view text);
// The text with symbols for control characters, cut to at most `columns` columns with … at the end.
std::string shorten(const std::string& label, int columns);

}  // namespace tx
