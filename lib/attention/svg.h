// Pictures for papers and talks: lines between the tokens of two texts, the stronger the larger the
// weight, a colour for each head, as in Figures 3 to 5 of Vaswani et al. (2017). Above each key
// stands a field for each head, in the order of the legend, filled as strongly as the weight.
#pragma once
#include <string>
#include <vector>

#include "lib/attention/output.h"

namespace tx {

struct SvgStyle {
  // The queries whose lines are drawn: "" all of them, a number from 0, or the text of a token,
  // with or without the sign of a space before it.
  std::string token;
  bool apart = false;  // a drawing for each head
};

// One drawing, for one kind and layer.
struct SvgDrawing {
  double width = 0, height = 0;
  std::string elements;  // of SVG, from (0, 0) on
};

// The drawings of a record: for each kind and layer one, or one for each head. DataError where the
// record has no such token. None of a blank line.
std::vector<SvgDrawing> svg_drawings(const AttentionRecord& record, const Selection& selection,
                                     const SvgStyle& style);
// The drawings below one another as an SVG file.
std::string svg_file(const std::vector<SvgDrawing>& drawings);

// Drawings in a file at the most.
constexpr size_t max_drawings = 200;

class SvgOutput : public AttentionOutput {
 public:
  // Both must live longer. finish() writes options.svg.
  SvgOutput(const DumpOptions& options, const Selection& selection);
  Write prepare(const AttentionRecord& record) override;
  void finish() override;

 private:
  const DumpOptions& options_;
  const Selection& selection_;
  std::vector<SvgDrawing> drawings_;
};

}  // namespace tx
