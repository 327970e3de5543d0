#!/bin/sh
# Cost of options of tx-train: tokens/s of runs that take turns, with their validation and saves,
# relative to the first. Needs an idle machine.
#
#   sh tests/bench/train_variants.sh SRC TGT [SETTING=VALUE]... -- 'OPTIONS' 'OPTIONS'...
# BIN=build/bin  directory of the tools   ROUNDS=3   the median counts
# STEPS=100      of each run; the first tenth is excluded
#
# Batches: '--preset tiny --batch-tokens 1024' '--preset tiny --batch-tokens 25000'. Saving: with
# STEPS=2000, '--preset tiny --save-every 0' against the same with --save-every 500, --valid-src and
# --valid-tgt.
set -eu
src=${1:?"usage: train_variants.sh SRC TGT [SETTING=VALUE]... -- 'OPTIONS'..."}
tgt=${2:?"TGT is missing"}
shift 2
BIN=build/bin ROUNDS=3 STEPS=100
while [ "$#" -gt 0 ] && [ "$1" != -- ]; do
  case $1 in
    BIN=* | ROUNDS=* | STEPS=*) eval "${1%%=*}=\${1#*=}" ;;
    *) echo "train_variants.sh: unknown setting '$1'" >&2; exit 2 ;;
  esac
  shift
done
[ "$#" -gt 1 ] || { echo "train_variants.sh: give options after --" >&2; exit 2; }
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
"$BIN/tx-bpe" train --vocab-size 8000 -o "$work/bpe.model" "$src" "$tgt" 2> /dev/null

rate() { # OPTIONS: tokens/s without the first tenth
  rm -rf "$work/run"
  # shellcheck disable=SC2086
  "$BIN/tx-train" $1 --src "$src" --tgt "$tgt" --vocab "$work/bpe.model" --steps "$STEPS" \
    --log-every $((STEPS / 10)) -q -o "$work/run"
  # The last line that has seconds is that of the last validation or save.
  awk '{
    seconds = $0
    if (!sub(/.*"seconds":/, "", seconds)) next
    last = seconds + 0
    tokens = $0
    if (!sub(/.*"tokens":/, "", tokens)) next
    if (!first) { first = last; before = tokens + 0 }
    all = tokens + 0
  } END { printf "%d\n", (all - before) / (last - first) }' "$work/run/log.jsonl"
}
median() { sort -n | awk '{x[NR] = $1} END {print x[int((NR + 1) / 2)]}'; }
for round in $(seq "$ROUNDS"); do
  i=0
  for options; do
    i=$((i + 1))
    rate "$options" >> "$work/rates.$i"
  done
done
i=0
for options; do
  i=$((i + 1))
  r=$(median < "$work/rates.$i")
  [ "$i" -gt 1 ] || first=$r
  awk -v r="$r" -v first="$first" -v what="$options" \
    'BEGIN { printf "%8d tokens/s  %.3f of the first  %s\n", r, r / first, what }'
done
