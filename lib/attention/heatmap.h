// Attention maps drawn in the terminal with block characters, darker for larger weights:
//
//   line 1: cross, layer 5, mean of 8 heads; columns: source, rows: token predicted
//             ▁two ▁hundred </s>
//        ▁zwei ████ ░░░░░░░░
//   ...
//   largest 0.87; ░ 0.22 ▒ 0.43 ▓ 0.65 █ 0.87
//
// Four shades, with colours eight. A token wider than a third of the drawing, and than 16
// columns, is shortened and stands in full below it, with its number from 0. Where the columns'
// tokens do not fit side by side they become a flight of steps above narrow columns, and where even
// those do not fit the map is drawn in parts, one below another.
#pragma once
#include <string>

#include "lib/attention/record.h"

namespace tx {

struct HeatmapStyle {
  int width = 80;      // columns of the terminal
  bool color = false;  // shades also get colours (ANSI, 256 colours)
};

// As the terminal behind standard output has it: its width, else $COLUMNS, else 80; colours on a
// terminal unless NO_COLOR is set or TERM is dumb.
HeatmapStyle terminal_style();

// Draws every map of the record, an empty line between two. A blank line has no map: its title says
// so.
std::string draw_heatmap(const AttentionRecord& record, const Selection& selection,
                         const HeatmapStyle& style);

// Columns that a text takes in a terminal: 2 for wide East Asian characters and emoji, 0 for
// combining marks, 1 for others.
int display_width(std::string_view text);
// The text in at most `columns` columns, with … in place of what is cut off.
std::string shorten(const std::string& text, int columns);

}  // namespace tx
