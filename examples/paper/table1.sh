#!/bin/sh
# Table 1, measured: what a layer of self-attention costs for sentences of n tokens and a width of
# d, and one that sees a window of R tokens; the paper's n^2 d, n d^2 and n R d fitted to the times.
#   sh examples/paper/table1.sh [FOLDER] [SETTING=VALUE]... > TABLES
# Times are those of training steps, forward and backward, of encoders with six layers less those of
# encoders with two, over four; the feed-forward layers in them are next to nothing. The best of
# STEPS steps counts. Memory is likewise the difference of what the processes held at most, weights
# included. Wants a machine without other work. Run again, it goes on; FOLDER is build/table1.
# LENGTHS="64 128 256 512 1024 2048"  WIDTHS="64 128 256 512"  (multiples of 64, which is d_k)
# WINDOW=32  TOKENS=4096 of a step  STEPS=5  OPTIONS="--threads 1"  further options of tx-train
# On a GPU: LENGTHS="64 128 256 512 1024 2048 4096" WIDTHS="256 512 1024" TOKENS=16384 OPTIONS=""
#   (memory is then the host's: tx-train tells its plan for the GPU with --describe)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
folder=build/table1
case ${1-} in '' | [A-Z]*=*) ;; *) folder=$1 && shift ;; esac
LENGTHS='64 128 256 512 1024 2048' WIDTHS='64 128 256 512' WINDOW=32 TOKENS=4096 STEPS=5
OPTIONS='--threads 1'
settings "LENGTHS WIDTHS WINDOW TOKENS STEPS OPTIONS" "$@"
mkdir -p "$folder"

# run LAYERS D N OPTION...: microseconds for a token and KiB at the most, of a training.
run() {
  layers=$1 d=$2 n=$3
  shift 3
  rm -rf "$folder/run"
  # shellcheck disable=SC2086  # OPTIONS are several words
  tx-train -q --kind encoder --src "$folder/text$n" --vocab words --context "$n" \
    --layers "$layers" --d-model "$d" --heads $((d / 64)) --d-ff 16 --dropout 0 \
    --batch-tokens "$TOKENS" --steps "$STEPS" --log-every 1 --save-every 0 $OPTIONS "$@" \
    -o "$folder/run" 2> "$folder/messages" &
  process=$! peak=0
  while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$process/status" 2> /dev/null) && [ "$now" ]; do
    peak=$now
    sleep 0.05
  done
  wait $process || { tail -n 2 "$folder/messages" >&2; exit 1; }
  rate=$(sed -n 's/.*"tokens_per_second":\([0-9.]*\),.*/\1/p' "$folder/run/log.jsonl" |
    sort -g | tail -n 1)
  echo "$rate $peak" | awk '{ print 1e6 / $1, $2 }'
}

table=$folder/measured
touch "$table"
for d in $WIDTHS; do
  for n in $LENGTHS; do
    # As many lines as steps need, of n - 1 words and the end.
    awk -v n="$n" -v lines=$((TOKENS * STEPS / n + STEPS + 1)) 'BEGIN {
      for (i = 0; i < lines; ++i) {
        for (j = 1; j < n; ++j) printf "w%d ", (i * 7 + j * j) % 13
        print ""
      } }' > "$folder/text$n"
    for kind in all window; do
      case $kind in all) set -- ;; window) set -- --window "$WINDOW" ;; esac
      grep -q "^$kind	$d	$n	" "$table" && continue
      few=$(run 2 "$d" "$n" "$@")
      many=$(run 6 "$d" "$n" "$@")
      echo "$few $many" | awk -v key="$kind	$d	$n" \
        '{ printf "%s\t%.6g\t%.6g\n", key, ($3 - $1) / 4, ($4 - $2) / 4 }' >> "$table"
    done
  done
done
awk -v window="$WINDOW" -v tokens="$TOKENS" -f "$here/solve.awk" -f "$here/table1.awk" "$table"
