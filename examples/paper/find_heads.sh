#!/bin/sh
# Figures 3 to 5 with heads that a search finds: one that follows long-distance dependencies, one
# that attends from a pronoun to its noun, and the two of a layer that differ most.
#   sh examples/paper/find_heads.sh MODEL TEXT [DIR] [SETTING=VALUE]... > TABLES
# TEXT is input of the model with spaces between words and punctuation. The best head is selected
# on two of every four lines, and its score on the others is printed too. The pictures show the line,
# of these others, with the highest score. DIR is build/find_heads.
# FAR=4    minimum distance, in words, of a long-distance dependency
# IGNORED=". , a an the"  words that heads without a function attend to; of the other words, the
#          attention between them is a row of its own
# PAIRS="his,he,him:man,boy,guy her,she:woman,girl,lady their,they,them:people,men,women,children"
#          pronouns and the nouns that they may refer to; a pronoun counts if exactly one such noun
#          precedes it. If exactly one noun of another pronoun precedes it too, a head chooses the
#          noun to which it gives more weight
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
model=${1:?"usage: find_heads.sh MODEL TEXT [DIR] [SETTING=VALUE]..."}
text=${2:?"TEXT is missing"}
shift 2
dir=build/find_heads
case ${1-} in '' | [A-Z]*=*) ;; *) dir=$1 && shift ;; esac
FAR=4 IGNORED='. , a an the'
PAIRS='his,he,him:man,boy,guy her,she:woman,girl,lady their,they,them:people,men,women,children'
settings "FAR IGNORED PAIRS" "$@"
mkdir -p "$dir"

# Lines with single spaces, so that the words of a line are those of the record.
awk 'NF > 2 { $1 = $1; print }' "$text" > "$dir/lines"
tx-attn-dump -m "$model" --kinds encoder --words --digits 4 --tgt "$dir/lines" \
  "$dir/lines" | sed 's/.*"encoder"://' | paste "$dir/lines" - |
  awk -F '\t' -v far="$FAR" -v ignored="$IGNORED" -v pairs="$PAIRS" -f "$here/find_heads.awk" \
    > "$dir/heads.tsv"

# best KIND: layer, head, score on the lines that select, score on the others, mean of all
# heads, number of cases, and the line and word with the highest score.
best() {
  awk -F '\t' -v kind="$1" '$1 == kind && (!n++ || $4 > max) { max = $4; row = $0 }
    END { print row }' "$dir/heads.tsv" | cut -f 2-
}
echo '| what | layer | head | lines that select | other lines | mean of all heads | cases |'
echo '|---|---|---|---|---|---|---|'
print_best() { # KIND DESCRIPTION
  best "$1" > "$dir/best"
  IFS='	' read -r layer head odd even mean cases line word < "$dir/best"
  [ "${cases:-0}" -gt 0 ] || { echo "find_heads: no case of: $2" >&2; return 1; }
  echo "| $2 | $layer | $head | $odd | $even | $mean | $cases |"
}
# draw FILE OPTION...: draws the encoder's attention in $line.
draw() {
  file=$dir/$1
  shift
  printf '%s\n' "$line" | tx-attn-dump -m "$model" --kinds encoder --words --svg "$file" "$@"
}
if print_best far "attention to words at a distance of $FAR or more, if above 0.5"; then
  draw figure3.svg --layers "$layer" --heads "$head" --token "$word"
fi
(print_best content 'the same between other words than articles and punctuation') || :
if print_best pronoun 'attention from a pronoun to its noun'; then
  draw figure4-top.svg --layers "$layer" --heads "$head"
  draw figure4-bottom.svg --layers "$layer" --heads "$head" --token "$word"
fi
(print_best choice 'from a pronoun, more to its noun than to the other') || :
line=${line:-$(head -n 1 "$dir/lines")}
tx-attn-dump -m "$model" --kinds encoder --stats pairs "$dir/lines" > "$dir/pairs.tsv"
awk -F '\t' 'NR > 1 && $2 == $4 && (!n++ || $6 > max) { max = $6; row = $2 "\t" $3 "\t" $5 "\t" $6 }
  END { print row }' "$dir/pairs.tsv" > "$dir/differ"
IFS='	' read -r layer head other distance < "$dir/differ"
echo "| two heads of a layer, Jensen-Shannon distance (at most 0.833) | $layer | $head and $other | $distance | | | |"
draw figure5.svg --layers "$layer" --heads "$head,$other" --apart
