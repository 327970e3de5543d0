#!/bin/sh
# Alignment error rate (tx-bleu --metric aer) of each cross-attention head and of each layer's
# mean, by the rows that predict a word and by the rows that read it (--shift).
#
#   PATH=$PWD/build/bin:$PATH sh tests/bench/alignment_error.sh MODEL SRC TGT LINKS
#
# SRC and TGT have words separated by spaces, LINKS the alignments of each line: "0-0 1-2".
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
