// SVG figures: lines between the tokens of two texts, thicker for larger weights, one colour per
// head, as in Figures 3 to 5 of Vaswani et al. (2017); above each key a field per head.
#pragma once
#include <string>
#include <vector>

#include "lib/attention/output.h"

namespace tx {

struct SvgStyle {
  // The queries drawn: "" (all), an index from 0, or a token, with or without its space symbol.
  std::string token;
  bool apart = false;  // one drawing per head
};

// One drawing, for one kind and layer.
struct SvgDrawing {
  double width = 0, height = 0;
  std::string elements;  // of SVG, from (0, 0) on
};

// One drawing per kind and layer, or per head; none for a blank line. DataError: no such token.
std::vector<SvgDrawing> svg_drawings(const AttentionRecord& record, const Selection& selection,
                                     const SvgStyle& style);
// The SVG file with the drawings, one below another.
std::string svg_file(const std::vector<SvgDrawing>& drawings);

// Maximum number of drawings in a file.
constexpr size_t max_drawings = 200;

class SvgOutput : public AttentionOutput {
 public:
  // Keeps references to both. finish() writes options.svg.
  SvgOutput(const DumpOptions& options, const Selection& selection);
  Write prepare(const AttentionRecord& record) override;
  void finish() override;

 private:
  const DumpOptions& options_;
  const Selection& selection_;
  std::vector<SvgDrawing> drawings_;
};

}  // namespace tx
