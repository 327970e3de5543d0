#!/bin/sh
# Puts each line of standard input into the prompt of a chat model, and prints its answers, one per line.
#
#   prompt.sh MODEL TEMPLATE [OPTION]... < lines
#
# TEMPLATE is a file with the model's prompt, in which {} stands for the line; a last empty line is a
# line break at the end. OPTIONs are those of tx-decode. tx-decode reads one prompt per line, so a
# line break within it is given as its token: Ċ, or BREAK (<0x0A> in vocabularies of SentencePiece).
set -eu
[ $# -ge 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
model=$1 template=$2
shift 2
awk 'FNR == NR { part[++parts] = $0; next }
     { for (i = 1; i <= parts; ++i) {
         at = index(part[i], "{}")
         print at ? substr(part[i], 1, at - 1) $0 substr(part[i], at + 2) : part[i] } }' \
  "$template" - |
  tx-bpe encode -m "$model" |
  awk -v parts="$(awk 'END { print NR }' "$template")" -v break_="${BREAK:-Ċ}" '
    { printf "%s%s", $0, NR % parts ? " " break_ " " : "\n" }' |
  tx-decode -m "$model" --pieces "$@" |
  tx-bpe decode -m "$model"
