#!/bin/sh
# Whether --precision auto is the faster precision on this machine: training (tokens/s) and decoding
# (lines per 100 s) in fp32 and in bf16, which take turns, at the shapes of presets base and tiny.
# Prints the medians and bf16's ratio to fp32. Needs an idle machine.
#
#   sh tests/bench/precision.sh SRC TGT [SETTING=VALUE]...
# BIN=build/bin  directory of the tools   THREADS=2     ROUNDS=3   STEPS=12   of each training
# TOKENS=2048    tokens of a batch on its longer side   LINES=64   to translate
set -eu
src=${1:?"usage: precision.sh SRC TGT [SETTING=VALUE]..."} tgt=${2:?"TGT is missing"}
shift 2
BIN=build/bin THREADS=2 ROUNDS=3 STEPS=12 TOKENS=2048 LINES=64
for setting; do
  case $setting in
    BIN=* | THREADS=* | ROUNDS=* | STEPS=* | TOKENS=* | LINES=*) eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "precision.sh: unknown setting '$setting'" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$BIN/tx-bpe" train --vocab-size 8000 -o "$work/bpe.model" "$src" "$tgt" 2> "$work/log"
head -n "$LINES" "$src" > "$work/lines"
tail -n 2000 "$src" > "$work/src"
tail -n 2000 "$tgt" > "$work/tgt"
median() { sort -n | awk '{x[NR] = $1} END {print x[int((NR + 1) / 2)]}'; }

training() {  # PRESET PRECISION: the median rate in the log without its first line
  rm -rf "$work/$1"
  "$BIN/tx-train" --preset "$1" --src "$work/src" --tgt "$work/tgt" --vocab "$work/bpe.model" \
    --max-length 250 --batch-tokens "$TOKENS" --steps "$STEPS" --log-every 2 --save-every 0 \
    --precision "$2" --threads "$THREADS" -q -o "$work/$1"
  sed -n 's/.*"tokens_per_second":\([0-9]*\).*/\1/p' "$work/$1/log.jsonl" | sed 1d | median
}
decoding() {  # PRESET PRECISION TOKENS: lines per 100 s of the whole process
  start=$(date +%s%N)
  "$BIN/tx-decode" -m "$work/$1" --min-length 20 --max-extra 0 --precision "$2" \
    --threads "$THREADS" --batch-tokens "$3" < "$work/lines" > "$work/out" 2> "$work/log"
  echo "$LINES $(($(date +%s%N) - start))" | awk '{ printf "%d\n", $1 * 1e11 / $2 }'
}

"$BIN/tx-decode" --version | grep '^--precision auto'
for preset in base tiny; do
  for round in $(seq "$ROUNDS"); do
    for precision in fp32 bf16; do
      training "$preset" "$precision" >> "$work/$preset.training.$precision"
      decoding "$preset" "$precision" 1024 >> "$work/$preset.decoding, batches.$precision"
      decoding "$preset" "$precision" 1 >> "$work/$preset.decoding, line by line.$precision"
    done
  done
  for what in training 'decoding, batches' 'decoding, line by line'; do
    echo "$(median < "$work/$preset.$what.fp32") $(median < "$work/$preset.$what.bf16")" |
      awk -v what="$preset, $what" '{ printf "%s: fp32 %d, bf16 %d (%.2f times)\n",
                                       what, $1, $2, $2 / $1 }'
  done
done
