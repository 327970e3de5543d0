# Compares the models of runs.sh by their seeds:  awk -f compare.awk DIR/seeds.tsv
# For each model: means of perplexity and of BLEU of the test text, and their differences from the
# first model. p is that of Welch's t test of the seeds, two-sided and unpaired; p Holm is corrected
# for all the comparisons of its column (Holm, 1979). With BASE=NAME another model is the base.
BEGIN { FS = "\t" }
FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
{
  name = $column["model"]
  if (!(name in known)) { known[name]; names[++models] = name }
  add(name, 1, $column["perplexity"])
  add(name, 2, $column["test"])
}
function add(name, what, x) {
  n[name, what]++
  sum[name, what] += x
  squares[name, what] += x * x
}
function mean(name, what) { return sum[name, what] / n[name, what] }
# The square of the standard error of the mean.
function error2(name, what, count) {
  count = n[name, what]
  return (squares[name, what] - sum[name, what] ^ 2 / count) / (count - 1) / count
}
# P(|T| > t) for Student's t with v degrees of freedom, by Simpson's rule over the angle atan(t /
# sqrt(v)), in which the density is proportional to cos^(v - 1).
function two_sided(t, v, end, steps, i, h, inside, all, half) {
  half = atan2(0, -1) / 2
  end = atan2(t < 0 ? -t : t, sqrt(v))
  steps = 2000
  inside = all = 0
  for (i = 0; i <= steps; i++) {
    h = i == 0 || i == steps ? 1 : i % 2 ? 4 : 2
    inside += h * cos(end * i / steps) ^ (v - 1)
    all += h * (i == steps && v > 1 ? 0 : cos(half * i / steps) ^ (v - 1))
  }
  return 1 - inside * end / (all * half)
}
function welch(a, b, what, x, y) {
  if (n[a, what] < 2 || n[b, what] < 2) return "none"
  x = error2(a, what)
  y = error2(b, what)
  if (x + y <= 0) return mean(a, what) == mean(b, what) ? 1 : 0
  return two_sided((mean(a, what) - mean(b, what)) / sqrt(x + y),
                   (x + y) ^ 2 / (x ^ 2 / (n[a, what] - 1) + y ^ 2 / (n[b, what] - 1)))
}
# Holm: the smallest of m values times m, the next times m - 1, and so on, never falling.
function correct(what, m, done, i, next_one, p, last) {
  m = 0
  for (i = 1; i <= models; i++) m += value[i, what] != "none" && i != base
  for (done = last = 0; done < m; done++) {
    next_one = 0
    for (i = 1; i <= models; i++)
      if (i != base && value[i, what] != "none" && !((i, what) in holm) &&
          (!next_one || value[i, what] < value[next_one, what])) next_one = i
    p = value[next_one, what] * (m - done)
    if (p > 1) p = 1
    if (p < last) p = last
    holm[next_one, what] = last = p
  }
}
function figure(x, digits) { return sprintf(x > 1e5 ? "%.1e" : "%." digits "f", x) }
function shown(p) { return p == "none" ? "" : p < 0.001 ? "< 0.001" : sprintf("%.3f", p) }
function show(i, what, digits) {
  if (i == base) return "| | |"
  p = mean(names[i], what) - mean(names[base], what)
  return sprintf("%s%s | %s | %s |", p < 0 ? "" : "+", figure(p, digits),
                 shown(value[i, what]), shown(value[i, what] == "none" ? "none" : holm[i, what]))
}
END {
  base = 1
  for (i = 1; i <= models; i++) if (names[i] == BASE) base = i
  for (what = 1; what <= 2; what++) {
    for (i = 1; i <= models; i++) value[i, what] = welch(names[i], names[base], what)
    correct(what)
  }
  print "| model | seeds | perplexity | difference | p | p Holm | BLEU | difference | p | p Holm |"
  print "|---|---|---|---|---|---|---|---|---|---|"
  for (i = 1; i <= models; i++)
    printf "| %s | %d | %s | %s %.1f | %s\n", names[i], n[names[i], 1], figure(mean(names[i], 1), 2),
      show(i, 1, 2), mean(names[i], 2), show(i, 2, 1)
}
