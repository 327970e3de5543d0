#!/bin/sh
# Draws Figures 3 to 5 of "Attention Is All You Need" for your own model and sentence:
#   sh examples/figures.sh MODEL SENTENCE WORD [DIR]
# WORD is a word of the sentence. The figures show the encoder's second-to-last layer; set LAYER to
# select another. Figures 4 and 5 show the two heads of the highest confidence; or set HEADS=5,6.
set -eu
if [ $# -lt 3 ] || [ $# -gt 4 ]; then
  echo "usage: sh examples/figures.sh MODEL SENTENCE WORD [DIR]" >&2
  exit 2
fi
model=$1 sentence=$2 word=$3 dir=${4:-.}
if ! command -v tx-attn-dump > /dev/null; then
  echo "figures: no tx-attn-dump in PATH; after make: PATH=\$PWD/build/bin:\$PATH" >&2
  exit 1
fi
mkdir -p "$dir"
line=$dir/sentence.txt
printf '%s\n' "$sentence" > "$line"

tx-attn-dump -m "$model" --kinds encoder --stats heads "$line" > "$dir/heads.tsv"
layers=$(awk -F '\t' 'NR > 1 && $2 > max { max = $2 } END { print max + 0 }' "$dir/heads.tsv")
layer=${LAYER:-$((layers > 0 ? layers - 1 : 0))}
heads=${HEADS:-$(awk -F '\t' -v layer="$layer" '
  NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i }
  NR > 1 && $2 == layer { print $column["confidence"] "\t" $3 }' "$dir/heads.tsv" |
  sort -rn | head -n 2 | cut -f 2 | sort -n | paste -s -d , -)}

# draw FILE OPTION...: draws the self-attention of the encoder between words.
draw() {
  file=$dir/$1
  shift
  tx-attn-dump -m "$model" --kinds encoder --layers "$layer" --words --svg "$file" "$@" "$line"
  echo "$file"
}
draw figure3.svg --token "$word"
draw figure4-top.svg --heads "${heads%%,*}"
draw figure4-bottom.svg --heads "$heads" --token "$word"
draw figure5.svg --heads "$heads" --apart
