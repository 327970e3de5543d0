#!/bin/sh
# What waiting threads cost other programs: training, translating and scoring alone, two runs at
# once, and one run next to a busy loop. Needs an idle machine.
#
#   sh tests/bench/shared_cores.sh [OPTION=VALUE]...
# BIN=build/bin  directory of the tools    THREADS=2  of each run; as many as processors
# STEPS=400      of training               LINES=4000 of translation    ROUNDS=3  the median counts
# SRC= TGT=      a text; default: number words
#
# Each line: the rate alone; the rates of two runs at once, and their sum relative to alone; the
# rate next to a busy loop, relative to alone. Goals: at least 0.95 and at least 0.5.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
BIN=build/bin THREADS=2 STEPS=400 LINES=4000 ROUNDS=3 SRC= TGT=
for setting; do
  case $setting in
    BIN=* | THREADS=* | STEPS=* | LINES=* | ROUNDS=* | SRC=* | TGT=*)
      eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "shared_cores.sh: unknown setting '$setting'" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d)
busy=
trap '[ -z "$busy" ] || kill $busy; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
if [ -z "$SRC" ]; then
  (cd "$work" && sh "$root/examples/number_words.sh" 20000 100 100 .)
  SRC=$work/train.en TGT=$work/train.de
fi
"$BIN/tx-bpe" train --vocab-size 4000 -o "$work/bpe.model" "$SRC" "$TGT" 2> /dev/null
head -n "$LINES" "$SRC" > "$work/lines"

train() { # NAME: tokens/s without the first tenth of the run
  rm -rf "$work/$1.run"
  "$BIN/tx-train" --preset tiny --src "$SRC" --tgt "$TGT" --vocab "$work/bpe.model" -q \
    --steps "$STEPS" --log-every $((STEPS / 10)) --save-every "$STEPS" --cache "$work/cache.$1" \
    --threads "$THREADS" -o "$work/$1.run"
  sed -n 's/.*"tokens_per_second":\([0-9]*\).*/\1/p' "$work/$1.run/log.jsonl" | sed 1d | median
}
decode() { # NAME: lines/s
  begin=$(date +%s%N)
  "$BIN/tx-decode" -m "$work/model" --threads "$THREADS" "$work/lines" > "$work/$1.out"
  echo $((LINES * 1000000000 / ($(date +%s%N) - begin)))
}
score() { # NAME: runs per 1,000 seconds
  begin=$(date +%s%N)
  "$BIN/tx-bleu" --confidence --resamples 20000 --threads "$THREADS" "$work/lines" \
    -i "$work/lines" > "$work/$1.out"
  echo $((1000000000000 / ($(date +%s%N) - begin)))
}
median() { sort -n | awk '{x[NR] = $1} END {print x[int((NR + 1) / 2)]}'; }

round() { # WHAT: appends a line of four rates to WHAT.rates
  alone=$($1 a)
  $1 a > "$work/first" &
  other=$!
  $1 b > "$work/second"
  wait $other
  (while :; do :; done) &
  busy=$!
  with_loop=$($1 a)
  kill $busy
  busy=
  echo "$alone $(cat "$work/first") $(cat "$work/second") $with_loop" >> "$work/$1.rates"
}
column() { awk -v n="$2" '{print $n}' "$work/$1.rates" | median; }
for what in train decode score; do
  [ $what != decode ] || cp "$work/a.run/last.safetensors" "$work/model"
  for turn in $(seq "$ROUNDS"); do
    round $what
    echo "$what, round $turn of $ROUNDS: $(tail -n 1 "$work/$what.rates")" >&2
  done
  awk -v what=$what -v a="$(column $what 1)" -v x="$(column $what 2)" -v y="$(column $what 3)" \
    -v b="$(column $what 4)" 'BEGIN {
      printf "%s: alone %d, two at once %d + %d (%.2f), with a busy loop %d (%.2f)\n",
             what, a, x, y, (x + y) / a, b, b / a }'
done
