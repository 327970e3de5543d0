#!/bin/sh
# How well each head of cross-attention aligns words: the alignment error rate (tx-bleu --metric aer) by
# layer and head, by the mean of each layer, and with the rows that read a word (--shift).
#
#   PATH=$PWD/build/bin:$PATH sh tests/bench/alignment_error.sh MODEL SRC TGT LINKS
#
# SRC and TGT are words with spaces between, LINKS those of each line, "0-0 1-2".
set -eu
model=${1:?"usage: alignment_error.sh MODEL SRC TGT LINKS"} source=$2 target=$3 links=$4

heads_of() { # encoder, decoder or cross: the numbers of layer and head
  head -n 1 "$source" | tx-attn-dump -m "$model" --stats heads --kinds "$1" |
    awk -F '\t' 'NR > 1 {print $2, $3}'
}
error_rate() {
  tx-attn-dump -m "$model" --align --words --tgt "$target" "$@" "$source" |
    tx-bleu --metric aer --score-only "$links"
}
heads_of cross > "${TMPDIR:-/tmp}/heads.$$"
trap 'rm -f "${TMPDIR:-/tmp}/heads.$$"' EXIT
printf 'layer\thead\tpredicts\treads\n'
{
  cat "${TMPDIR:-/tmp}/heads.$$"
  awk '!seen[$1]++ {print $1, "mean"}' "${TMPDIR:-/tmp}/heads.$$"
} | while read -r layer head; do
  set -- --layers "$layer"
  [ "$head" = mean ] || set -- "$@" --heads "$head"
  printf '%s\t%s\t%s\t%s\n' "$layer" "$head" "$(error_rate "$@")" "$(error_rate "$@" --shift)"
done
