# Draws what curves.sh measured: lines "curve TAB what TAB x TAB milliseconds TAB megabytes". One
# row of panels for time, one for memory, a column per curve; both axes are logarithmic.
BEGIN {
  FS = "\t"
  wide = 250; high = 190; left = 52; top = 34; inner_wide = 180; inner_high = 120
  colour["training"] = "#1f5fa8"; colour["decoding"] = "#b5521b"
}
{
  if (!($1 in column)) { column[$1] = columns++; name[columns - 1] = $1 }
  n = ++count[$1, $2]
  what[$2]
  x[$1, $2, n] = $3; value["ms", $1, $2, n] = $4; value["MB", $1, $2, n] = $5
  span("x", $1, $3)
  span("ms", $1, $4)
  span("MB", $1, $5)
}
function span(axis, curve, v) {
  if (!((axis, curve) in low) || v + 0 < low[axis, curve]) low[axis, curve] = v + 0
  if (!((axis, curve) in max) || v + 0 > max[axis, curve]) max[axis, curve] = v + 0
}
# 0 to 1 along an axis that covers at least a factor of two.
function place(axis, curve, v,   a, b) {
  a = log(low[axis, curve]); b = log(max[axis, curve])
  if (b - a < log(2)) { a -= log(2) / 2; b += log(2) / 2 }
  return (log(v) - a) / (b - a)
}
function label(px, py, anchor, size, s) {
  printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\">%s</text>\n",
         px, py, anchor, size, s
}
function panel(axis, row, curve,   ox, oy, w, i, px, py, points, seen) {
  ox = column[curve] * wide + left; oy = row * high + top
  printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999\"/>\n",
         ox, oy, inner_wide, inner_high
  label(ox + inner_wide / 2, oy - 10, "middle", 12, \
        curve ": " (axis == "ms" ? "ms per 1,000 tokens" : "peak MB"))
  label(ox - 4, oy + 8, "end", 10, max[axis, curve])
  label(ox - 4, oy + inner_high, "end", 10, low[axis, curve])
  for (w in what) {
    points = ""
    for (i = 1; i <= count[curve, w]; i++) {
      px = ox + 8 + place("x", curve, x[curve, w, i]) * (inner_wide - 16)
      py = oy + inner_high - 8 - \
           place(axis, curve, value[axis, curve, w, i]) * (inner_high - 16)
      points = points sprintf("%.1f,%.1f ", px, py)
      printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n", px, py, colour[w]
      if (!(x[curve, w, i] in seen)) label(px, oy + inner_high + 13, "middle", 9, x[curve, w, i])
      seen[x[curve, w, i]]
    }
    if (points != "")
      printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n",
             points, colour[w]
  }
}
END {
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" " \
         "font-family=\"sans-serif\">\n", columns * wide, 2 * high + 24
  print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
  for (c = 0; c < columns; c++) { panel("ms", 0, name[c]); panel("MB", 1, name[c]) }
  px = left
  for (w in what) {
    printf "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"3\" fill=\"%s\"/>\n", px, 2 * high + 8,
           colour[w]
    label(px + 18, 2 * high + 13, "start", 11, w)
    px += 100
  }
  print "</svg>"
}
