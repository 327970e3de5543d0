#!/bin/sh
# Figures 3 to 5 of "Attention Is All You Need" from a model and a sentence of your own:
#   sh examples/figures.sh MODEL SENTENCE WORD [FOLDER]
# WORD is one of the sentence. They show the encoder's last layer but one; LAYER takes another.
# Figures 4 and 5 show two heads, those that are surest there; HEADS=5,6 takes others.
set -eu
if [ $# -lt 3 ] || [ $# -gt 4 ]; then
  echo "usage: sh examples/figures.sh MODEL SENTENCE WORD [FOLDER]" >&2
  exit 2
fi
model=$1 sentence=$2 word=$3 folder=${4:-.}
if ! command -v tx-attn-dump > /dev/null; then
  echo "figures: no tx-attn-dump in PATH; after make: PATH=\$PWD/build/bin:\$PATH" >&2
  exit 1
fi
mkdir -p "$folder"
line=$folder/sentence.txt
printf '%s\n' "$sentence" > "$line"

tx-attn-dump -m "$model" --kinds encoder --stats heads "$line" > "$folder/heads.tsv"
layers=$(awk -F '\t' 'NR > 1 && $2 > most { most = $2 } END { print most + 0 }' "$folder/heads.tsv")
layer=${LAYER:-$((layers > 0 ? layers - 1 : 0))}
heads=${HEADS:-$(awk -F '\t' -v layer="$layer" '
  NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i }
  NR > 1 && $2 == layer { print $column["confidence"] "\t" $3 }' "$folder/heads.tsv" |
  sort -rn | head -n 2 | cut -f 2 | sort -n | paste -s -d , -)}

# draw FILE OPTION...: a picture of the encoder's attention to its own words.
draw() {
  file=$folder/$1
  shift
  tx-attn-dump -m "$model" --kinds encoder --layers "$layer" --words --svg "$file" "$@" "$line"
  echo "$file"
}
draw figure3.svg --token "$word"
draw figure4-top.svg --heads "${heads%%,*}"
draw figure4-bottom.svg --heads "$heads" --token "$word"
draw figure5.svg --heads "$heads" --apart
