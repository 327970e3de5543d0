#!/bin/sh
# tx-bpe encode and decode against SentencePiece's programs, with the same model on the same text:
# whole processes that take turns, the best of several rounds. The outputs must be identical.
#
#   sh tests/bench/bpe_speed.sh TEXT [SETTING=VALUE]...
# BIN=build/bin  directory of tx-bpe       ROUNDS=9  the best counts
# SIZE=8000      vocabulary of the model, which is trained on the text
#
# CPU seconds (user and system) are reliable on a busy machine. Wall-clock seconds, and so the
# speed-up by two threads, are only reliable if the load at the start is below 1. The maximal
# speed-up is computed from the CPU seconds: start-up (an empty text) is serial, the rest
# parallel.
set -eu
text=${1:?"usage: bpe_speed.sh TEXT [SETTING=VALUE]..."}
shift
BIN=build/bin ROUNDS=9 SIZE=8000
for setting; do
  case $setting in
    BIN=* | ROUNDS=* | SIZE=*) eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "bpe_speed.sh: unknown setting '$setting'" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$BIN/tx-bpe" train --vocab-size "$SIZE" -o "$work/model" "$text"

timed() { # NAME COMMAND...: writes "WALL CPU" of a run and its output to files
  name=$1
  shift
  bash -c 'TIMEFORMAT="%R %U %S"; time "$@"' time "$@" > "$work/out.$name" 2> "$work/time"
  tail -n 1 "$work/time" | awk '{ print $1, $2 + $3 }' >> "$work/seconds.$name"
}
wall() { awk 'NR == 1 || $1 < x { x = $1 } END { print x }' "$work/seconds.$1"; }
cpu() { awk 'NR == 1 || $2 < x { x = $2 } END { print x }' "$work/seconds.$1"; }

echo "load at the start: $(cut -d ' ' -f 1 /proc/loadavg)"
for round in $(seq "$ROUNDS"); do
  timed tx.start "$BIN/tx-bpe" encode --threads 2 -m "$work/model" /dev/null
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
  printf 'spm_%s %20.3f s wall %6.3f s CPU\n' $way "$(wall spm.$way)" "$(cpu spm.$way)"
  for threads in 1 2; do
    name=tx.$way.$threads
    echo "$way, $threads $(wall $name) $(cpu $name) $(wall spm.$way) $(cpu spm.$way)" \
      "$(wall tx.$way.1) $(cpu tx.start)" | awk '{
        printf "tx-bpe %s %s %13.3f s wall %6.3f s CPU", $1, $2, $3, $4
        printf ": %.2f and %.2f x SentencePiece", $5 / $3, $6 / $4
        if ($2 == 2)
          printf "; %.2f x one thread, %.2f at most", $7 / $3, $4 / ($8 + ($4 - $8) / 2)
        print ""
      }'
  done
done
