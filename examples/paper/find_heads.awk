# For find_heads.sh. Input lines: words separated by spaces, a tab, and the encoder's weights
# [[[[...]]]] by layer, head, row and column; the last row and column are </s>. Settings: far,
# ignored, pairs. Prints KIND LAYER HEAD SELECT JUDGE MEAN CASES LINE WORD, separated by tabs:
# scores on the lines 1, 2, 5, 6 and so on, and on the others; mean of all heads on the others;
# number of cases; the line and word, of the others, with the highest score. Odd and even lines are
# no such halves of Multi30k, where odd lines are shorter.
BEGIN {
  n = split(ignored, w, " ")
  for (i = 1; i <= n; ++i) common[w[i]]
  classes = split(pairs, class, " ")
  for (c = 1; c <= classes; ++c) {
    split(class[c], part, ":")
    n = split(part[1], w, ",")
    for (i = 1; i <= n; ++i) pronoun[w[i]] = c
    n = split(part[2], w, ",")
    for (i = 1; i <= n; ++i) noun[w[i]] = c
  }
}

# All arguments count from 0.
function weight(layer, head, row, column) {
  return x[((layer * heads + head) * size + row) * size + column + 1]
}
# Adds one case of a kind, whose score by each head is in given[layer, head].
function count(kind, row,   l, h, s) {
  ++cases[kind, select]
  for (l = 0; l < layers; ++l)
    for (h = 0; h < heads; ++h) {
      s = given[l, h]
      sum[kind, l, h, select] += s
      if (!select && (!((kind, l, h) in max) || s > max[kind, l, h])) {
        max[kind, l, h] = s
        shown[kind, l, h] = $1 "\t" word[row + 1]
      }
    }
}

{
  size = split($1, word, " ") + 1
  numbers = $2
  if (!layers) {
    shape = $2
    heads = gsub(/\]\]\]*/, "&", shape)  # of all layers
    layers = gsub(/\]\]\]\]*/, "&", shape)
    heads /= layers
  }
  gsub(/[][}]/, "", numbers)
  if (split(numbers, x, ",") != layers * heads * size * size) next  # truncated source
  select = int((NR - 1) / 2) % 2 == 0
  for (i = 0; i < size - 1; ++i) {
    if (i >= far || size - 2 - i >= far) {
      for (l = 0; l < layers; ++l)
        for (h = 0; h < heads; ++h) {
          given[l, h] = 0
          for (j = 0; j < size - 1; ++j)
            if ((i - j >= far || j - i >= far) && weight(l, h, i, j) > 0.5) {
              given[l, h] = weight(l, h, i, j)
              to[l, h] = j
            }
        }
      count("far", i)
      if (!(word[i + 1] in common)) {
        for (l = 0; l < layers; ++l)
          for (h = 0; h < heads; ++h)
            if (word[to[l, h] + 1] in common) given[l, h] = 0
        count("content", i)
      }
    }
    if (!(word[i + 1] in pronoun)) continue
    nouns = others = 0
    for (j = 0; j < i; ++j) {
      if (!(word[j + 1] in noun)) continue
      if (noun[word[j + 1]] == pronoun[word[i + 1]]) {
        ++nouns
        at = j
      } else {
        ++others
        other = j
      }
    }
    if (nouns != 1) continue
    for (l = 0; l < layers; ++l)
      for (h = 0; h < heads; ++h) given[l, h] = weight(l, h, i, at)
    count("pronoun", i)
    if (others != 1) continue
    for (l = 0; l < layers; ++l)
      for (h = 0; h < heads; ++h) {
        more = weight(l, h, i, at) - weight(l, h, i, other)
        given[l, h] = (more > 0) + (more == 0) / 2
      }
    count("choice", i)
  }
}

function print_kind(kind,   l, h, all) {
  for (l = 0; l < layers; ++l)
    for (h = 0; h < heads; ++h) all += sum[kind, l, h, 0]
  for (l = 0; l < layers; ++l)
    for (h = 0; h < heads; ++h)
      printf "%s\t%d\t%d\t%.4f\t%.4f\t%.4f\t%d\t%s\n", kind, l, h,
        sum[kind, l, h, 1] / cases[kind, 1], sum[kind, l, h, 0] / cases[kind, 0],
        all / (layers * heads * cases[kind, 0]), cases[kind, 0] + cases[kind, 1], shown[kind, l, h]
}

END {
  kinds = split("far content pronoun choice", kind, " ")
  for (k = 1; k <= kinds; ++k)
    if (cases[kind[k], 0] && cases[kind[k], 1]) print_kind(kind[k])
}
