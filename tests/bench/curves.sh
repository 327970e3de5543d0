#!/bin/sh
# How cost grows: ms per 1,000 tokens and peak memory of training and decoding against sentence
# length, beam, vocabulary, batch, layers and threads. Random weights, d 128, and generated text.
# Prints tables in Markdown and draws them. Needs GNU time and an idle machine.
#
#   sh tests/bench/curves.sh [OPTION=VALUE]...
# BIN=build/bin            directory of the tools   BENCH=build/tests/decode_bench
# THREADS=2                of training; decoding has one, as in each worker of tx-decode
# SVG=curves.svg           the figure               STEPS=6  of training
# CURVES="length beam vocabulary batch layers threads"  selects curves
#
# Expected: the time per token does not depend on the batch beyond a few thousand tokens and grows
# linearly with length (attention), layers, vocabulary and beam; memory grows with the batch, but
# not with the square of the length.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
BIN=build/bin BENCH=build/tests/decode_bench THREADS=2 SVG=curves.svg STEPS=6
CURVES="length beam vocabulary batch layers threads"
for setting; do
  case $setting in
    BIN=* | BENCH=* | THREADS=* | SVG=* | STEPS=* | CURVES=*) eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "curves.sh: unknown setting '$setting'" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

text() { # LENGTH WORDS TOKENS: at least so many tokens in lines of LENGTH, with every word
  awk -v size="$1" -v words="$2" -v tokens="$3" 'BEGIN {
    if (tokens < words) tokens = words
    for (n = 0; n < tokens; n += size) {
      line = ""
      for (i = 0; i < size; i++) line = line " w" (n + i) * 7919 % words
      print substr(line, 2)
    } }'
}
keep() { # CURVE WHAT X MS MB
  printf '%s\t%s\t%s\t%s\t%s\n' "$@" >> "$work/points"
  echo "$1 $3: $2 $4 ms per 1,000 tokens, $5 MB" >&2
}
# train and decode take the settings of a point as NAME=VALUE after the curve and x. 7919 is
# prime, so that all words of a vocabulary occur. A batch of training has 32 rows more, because one
# row belongs to no sentence: two sentences of 4,096 tokens would not fit into 8,192.
train() { # CURVE X [NAME=VALUE]...
  curve=$1 x=$2 length=31 words=8000 batch=8192 layers=4 threads=$THREADS
  shift 2
  for setting; do eval "$setting"; done
  text "$length" "$words" $((batch * 2)) > "$work/text"
  rm -rf "$work/run"
  /usr/bin/time -f %M -o "$work/peak" "$BIN/tx-train" --src "$work/text" --tgt "$work/text" \
    --vocab words --preset tiny --layers "$layers" --max-length 5000 --batch-tokens $((batch + 32)) \
    --steps "$STEPS" --log-every 2 --save-every 0 --threads "$threads" -q -o "$work/run" \
    --cache "$work/cache"
  rm -rf "$work/cache"*
  rate=$(sed -n 's/.*"tokens_per_second":\([0-9]*\).*/\1/p' "$work/run/log.jsonl" | sort -n | tail -n 1)
  keep "$curve" training "$x" "$(awk -v r="$rate" 'BEGIN {printf "%.2f", 1e6 / r}')" "$(megabytes)"
}
decode() { # CURVE X [NAME=VALUE]...
  curve=$1 x=$2 length=31 words=8000 sentences=32 beam=4 threads=1
  shift 2
  for setting; do eval "$setting"; done
  rate=$(/usr/bin/time -f %M -o "$work/peak" "$BENCH" small auto "$sentences" "$threads" "$beam" \
    "$length" "$words" 1 | sed -n 's/.* second, \([0-9]*\) tokens.*/\1/p')
  keep "$curve" decoding "$x" "$(awk -v r="$rate" 'BEGIN {printf "%.2f", 1e6 / r}')" "$(megabytes)"
}
megabytes() { awk 'END {printf "%d", $1 * 1024 / 1e6}' "$work/peak"; }

for curve in $CURVES; do
  case $curve in
    length)
      for n in 16 64 256 1024 4096; do
        train length $n length=$((n - 1))
        decode length $n length=$((n - 1)) sentences=$((4096 / n)) beam=1
      done ;;
    beam) for n in 1 2 4 8 16 32 64; do decode beam $n beam=$n; done ;;
    vocabulary)
      for n in 1000 4000 16000 64000; do
        train vocabulary $n words=$n
        decode vocabulary $n words=$n
      done ;;
    batch)  # tokens per batch in training; in decoding, sentences of 32 tokens
      for n in 1024 2048 4096 8192 25000; do train batch $n batch=$n; done
      for n in 32 128 512 2048 8192; do decode batch $n sentences=$((n / 32)); done ;;
    layers) for n in 1 2 4 8 16; do train layers $n layers=$n; done ;;
    threads)
      for n in $(seq "$(nproc)"); do
        train threads "$n" threads="$n"
        decode threads "$n" threads="$n"
      done ;;
    *) echo "curves.sh: unknown curve '$curve'" >&2; exit 2 ;;
  esac
done
awk -F '\t' '
  function end_table() { if (curve != "") print "" }
  $1 != curve {
    end_table()
    curve = $1
    printf "| %s | what | ms per 1,000 tokens | peak MB |\n|---|---|---|---|\n", curve
  }
  { printf "| %s | %s | %s | %s |\n", $3, $2, $4, $5 }' "$work/points"
awk -f "$here/curves_svg.awk" "$work/points" > "$SVG"
echo "curves.sh: wrote $SVG" >&2
