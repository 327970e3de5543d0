#!/bin/sh
# Cost of writing every attention weight of a text: size of the file of arrays, and CPU seconds
# against those of scoring the same lines with tx-decode. The two take turns, in fp32, start-up
# included. The model has the base shape, random weights and a vocabulary trained on the text.
#
#   PATH=$PWD/build/bin:$PWD/build/tests:$PATH sh tests/bench/attention_dump.sh SRC TGT [SETTING=VALUE]...
# LINES=100      first lines of both       VOCAB=16000     size of the vocabulary
# THREADS=2      of each                   ROUNDS=3        the median counts
# DTYPE=f16      of the arrays             WHAT=weights    quantities to write
set -eu
. "$(dirname "$0")/peak.sh"
source=${1:?"usage: attention_dump.sh SRC TGT [SETTING=VALUE]..."} target=${2:?"TGT is missing"}
shift 2
LINES=100 VOCAB=16000 THREADS=2 ROUNDS=3 DTYPE=f16 WHAT=weights
for setting; do
  case $setting in
    LINES=* | VOCAB=* | THREADS=* | ROUNDS=* | DTYPE=* | WHAT=*)
      eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "attention_dump.sh: unknown setting '$setting'" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tx-bpe train --vocab-size "$VOCAB" -o "$work/bpe" "$source" "$target" 2> "$work/log"
make_model "$work/model" vocabulary "$work/bpe" d_model 512 d_ff 2048 heads 8 layers 6
head -n "$LINES" "$source" > "$work/src"
head -n "$LINES" "$target" > "$work/tgt"

# seconds COMMAND...: user and system time of the command. `times` must not run in a pipe, because
# the subshell there has no children.
seconds() (
  "$@" > /dev/null
  times > "$work/times"
  sed -n '2{s/[ms]/ /g;p;}' "$work/times" | awk '{print $1 * 60 + $2 + $3 * 60 + $4}'
)
dump() { # SRC TGT [exec]
  ${3:-} tx-attn-dump -m "$work/model" --format safetensors --dtype "$DTYPE" --what "$WHAT" \
    --threads "$THREADS" -o "$work/arrays" --tgt "$2" "$1"
}
score() { tx-decode -m "$work/model" --precision fp32 --threads "$THREADS" --tgt "$2" "$1"; }
median() { sort -n "$1" | awk '{x[NR] = $1} END {print x[int((NR + 1) / 2)]}'; }
memory() { # SRC TGT: the peak in KiB
  dump "$1" "$2" exec &
  pid=$!
  peak_memory "$pid"
  wait "$pid"
}

for round in $(seq "$ROUNDS"); do
  seconds dump "$work/src" "$work/tgt" >> "$work/dump.s"
  seconds score "$work/src" "$work/tgt" >> "$work/score.s"
done
bytes=$(wc -c < "$work/arrays")
tokens=$(cat "$work/src" "$work/tgt" | tx-bpe encode -m "$work/bpe" | wc -w)
small=$(memory "$work/src" "$work/tgt")
for side in src tgt; do
  for i in 1 2 3 4; do cat "$work/$side"; done > "$work/$side.long"
done
large=$(memory "$work/src.long" "$work/tgt.long")
awk -v a="$(median "$work/dump.s")" -v b="$(median "$work/score.s")" -v bytes="$bytes" \
  -v lines="$LINES" -v tokens="$tokens" -v small="$small" -v large="$large" 'BEGIN {
  printf "%d lines of %.1f tokens per side: %.1f MB\n", lines, tokens / lines / 2, bytes / 1e6
  printf "CPU seconds: %.2f writing, %.2f scoring, ratio %.2f\n", a, b, a / b
  printf "peak memory: %.1f MiB; with 4 times the lines %.1f MiB\n", small / 1024, large / 1024
}'
