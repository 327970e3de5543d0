# Teaches a model to carry placeholders: replaces words by {0}, {1} ... on both sides of pairs.
#   tx-decode -q -m MODEL --tgt train.de --alignments words < train.en | cut -f 4 > links
#   paste train.en train.de links | awk -F '\t' -f placeholders.awk [-v most=3 -v seed=1] > pairs
# A line of PAIRS is SOURCE, a tab, TARGET. The words are drawn from those that are aligned to one
# word each; a line without any is left out. Fine-tune MODEL on both texts; {0} and so on should
# be tokens: printf '{%d}\n' 0 1 2 > tokens
#   cut -f 1 pairs > more.en; cut -f 2 pairs > more.de
#   tx-train --init MODEL --add-tokens tokens --src train.en --tgt train.de --src more.en \
#     --tgt more.de ... -o RUN
# tx-decode --markup then uses them for what counts as a word.
BEGIN { if (!most) most = 3; srand(seed ? seed : 1) }
{
  n = split($1, source, " "); split($2, target, " "); links = split($3, link, " ")
  split("", to); split("", from); split("", single)
  for (i = 1; i <= links; ++i) {
    split(link[i], ends, "-")
    ++from[ends[1]]; ++to[ends[2]]
  }
  for (i = count = 0; i++ < links;) {
    split(link[i], ends, "-")
    if (from[ends[1]] == 1 && to[ends[2]] == 1 && source[ends[1] + 1] !~ /[[:punct:]]/ &&
        target[ends[2] + 1] !~ /[[:punct:]]/)
      single[++count] = link[i]
  }
  if (!count) next
  for (k = 0; k < 1 + int(rand() * most) && k < count; ++k) {
    drawn = 1 + int(rand() * count)
    if (single[drawn] == "") continue
    split(single[drawn], ends, "-")
    single[drawn] = ""
    source[ends[1] + 1] = target[ends[2] + 1] = "{" k "}"
  }
  line = source[1]
  for (i = 2; i <= n; ++i) line = line " " source[i]
  line = line "\t" target[1]
  for (i = 2; i in target && target[i] != ""; ++i) line = line " " target[i]
  print line
}
