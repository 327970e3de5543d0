#!/bin/sh
# Figures 3 to 5 with heads that are found by a search, not picked by hand: one that follows long
# dependencies, one that leads from a pronoun to its noun, and two of a layer that differ most.
#   sh examples/paper/find_heads.sh MODEL TEXT [FOLDER] [SETTING=VALUE]... > TABLES
# TEXT is what the model translates, with a space between words and punctuation. All heads of the
# encoder are tried on its odd lines; what the best do on the even lines is told beside it. The
# pictures are of the even line that shows it best. FOLDER is build/find_heads.
# FAR=4    words between a word and the one it attends to, for a dependency to be long
# PAIRS="his,he,him:man,boy,guy her,she:woman,girl,lady their,they,them:people,men,women,children"
#          pronouns and the nouns that they may mean; a line counts where just one such noun stands
#          before the pronoun
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
model=${1:?"usage: find_heads.sh MODEL TEXT [FOLDER] [SETTING=VALUE]..."}
text=${2:?"TEXT is missing"}
shift 2
folder=build/find_heads
case ${1-} in '' | [A-Z]*=*) ;; *) folder=$1 && shift ;; esac
FAR=4
PAIRS='his,he,him:man,boy,guy her,she:woman,girl,lady their,they,them:people,men,women,children'
settings "FAR PAIRS" "$@"
mkdir -p "$folder"

# Lines of words that are single spaces apart, so that a line's words are the record's.
awk 'NF > 2 { $1 = $1; print }' "$text" > "$folder/lines"
tx-attn-dump -m "$model" --kinds encoder --words --digits 4 --tgt "$folder/lines" \
  "$folder/lines" | sed 's/.*"encoder"://' | paste "$folder/lines" - |
  awk -F '\t' -v far="$FAR" -v pairs="$PAIRS" -f "$here/find_heads.awk" > "$folder/heads.tsv"

# best KIND: layer, head, score on odd lines, score on even lines, chance, number of cases, the
# line that shows it best and its word.
best() {
  awk -F '\t' -v kind="$1" '$1 == kind && (!n++ || $4 > most) { most = $4; row = $0 }
    END { print row }' "$folder/heads.tsv" | cut -f 2-
}
echo '| what | layer | head | odd lines | even lines | mean of all heads | cases |'
echo '|---|---|---|---|---|---|---|'
tell() { # KIND WORDS
  best "$1" > "$folder/best"
  IFS='	' read -r layer head odd even mean cases line word < "$folder/best"
  [ "${cases:-0}" -gt 0 ] || { echo "find_heads: no case of: $2" >&2; return 1; }
  echo "| $2 | $layer | $head | $odd | $even | $mean | $cases |"
}
# draw FILE OPTION...: the encoder's attention in the sentence $line.
draw() {
  file=$folder/$1
  shift
  printf '%s\n' "$line" | tx-attn-dump -m "$model" --kinds encoder --words --svg "$file" "$@"
}
if tell far "weight of words $FAR places away and more, where above a half"; then
  draw figure3.svg --layers "$layer" --heads "$head" --token "$word"
fi
if tell pronoun 'weight of the noun that a pronoun means'; then
  draw figure4-top.svg --layers "$layer" --heads "$head"
  draw figure4-bottom.svg --layers "$layer" --heads "$head" --token "$word"
fi
line=${line:-$(head -n 1 "$folder/lines")}
tx-attn-dump -m "$model" --kinds encoder --stats pairs "$folder/lines" > "$folder/pairs.tsv"
awk -F '\t' 'NR > 1 && $2 == $4 && (!n++ || $6 > most) { most = $6; row = $2 "\t" $3 "\t" $5 "\t" $6 }
  END { print row }' "$folder/pairs.tsv" > "$folder/differ"
IFS='	' read -r layer head other distance < "$folder/differ"
echo "| two heads of a layer, Jensen-Shannon distance (at most 0.833) | $layer | $head and $other | $distance | | | |"
draw figure5.svg --layers "$layer" --heads "$head,$other" --apart
