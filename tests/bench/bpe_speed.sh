#!/bin/sh
# Text to pieces and back against SentencePiece's programs with the same model on the same text:
# whole processes, in turn, the median of the seconds, then how many times as fast as SentencePiece
# and as one thread. The pieces must be the same bytes. Nothing else should run beside it.
#
#   sh tests/bench/bpe_speed.sh TEXT [SETTING=VALUE]...
# BIN=build/bin  where tx-bpe is           ROUNDS=5  the median counts
# SIZE=8000      pieces of the model, which is trained on the text
set -eu
text=${1:?"usage: bpe_speed.sh TEXT [SETTING=VALUE]..."}
shift
BIN=build/bin ROUNDS=5 SIZE=8000
for setting; do
  case $setting in
    BIN=* | ROUNDS=* | SIZE=*) eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "bpe_speed.sh: no setting '$setting'" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$BIN/tx-bpe" train --vocab-size "$SIZE" -o "$work/model" "$text"

timed() { # NAME COMMAND...: its seconds go to a file, its output too
  name=$1
  shift
  start=$(date +%s%N)
  "$@" > "$work/out.$name"
  end=$(date +%s%N)
  awk -v n=$((end - start)) 'BEGIN { printf "%.4f\n", n / 1e9 }' >> "$work/seconds.$name"
}
median() { sort -n "$work/seconds.$1" | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }

for round in $(seq "$ROUNDS"); do
  timed spm.encode spm_encode --model "$work/model" "$text"
  for threads in 1 2; do
    timed "tx.encode.$threads" "$BIN/tx-bpe" encode --threads $threads -m "$work/model" "$text"
  done
  pieces=$work/out.tx.encode.1
  timed spm.decode spm_decode --model "$work/model" "$pieces"
  for threads in 1 2; do
    timed "tx.decode.$threads" "$BIN/tx-bpe" decode --threads $threads -m "$work/model" "$pieces"
  done
done
for threads in 1 2; do
  cmp "$work/out.spm.encode" "$work/out.tx.encode.$threads"
  cmp "$text" "$work/out.tx.decode.$threads"
done
wc -lc "$text" | awk '{ printf "%d lines, %.1f MB\n", $1, $2 / 1e6 }'
for way in encode decode; do
  base=$(median spm.$way)
  printf 'spm_%s %20.3f s\n' $way "$base"
  for threads in 1 2; do
    median tx.$way.$threads | awk -v name="tx-bpe $way, $threads" -v base="$base" \
      -v one="$(median tx.$way.1)" '{
        printf "%s %13.3f s  %5.2f x SentencePiece  %.2f x one thread\n", name, $1, base / $1, one / $1
      }'
  done
done
