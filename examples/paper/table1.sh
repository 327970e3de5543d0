#!/bin/sh
# Table 1, measured: time and memory of a self-attention layer against sentence length n and width
# d, with and without a window of R tokens; the paper's n^2 d, n d^2 and n R d are fitted to the
# times.
#   sh examples/paper/table1.sh [DIR] [SETTING=VALUE]... > TABLES
# A layer is the difference between encoders of six and of two layers, divided by four; their
# feed-forward networks are negligible. Times are those of a training step, forward and backward;
# the fastest of STEPS steps counts. A row of each batch belongs to no sentence, so a batch has 32
# rows more than TOKENS, and holds TOKENS / n sentences. Memory is the peak of the process, weights
# included. Needs an idle machine. Run it again to resume; DIR/settings records WINDOW to OPTIONS,
# and other ones need another DIR. DIR is build/table1.
# LENGTHS="64 128 256 512 1024 2048"  WIDTHS="64 128 256 512"  (multiples of 64, which is d_k)
# WINDOW=32  TOKENS=4096 per step  STEPS=5  OPTIONS="--threads 1"  further options of tx-train
# On a GPU: LENGTHS="64 128 256 512 1024 2048 4096" WIDTHS="256 512 1024" TOKENS=16384 OPTIONS=""
#   (memory is then the host's; tx-train --describe prints the plan for the GPU)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
dir=build/table1
case ${1-} in '' | [A-Z]*=*) ;; *) dir=$1 && shift ;; esac
LENGTHS='64 128 256 512 1024 2048' WIDTHS='64 128 256 512' WINDOW=32 TOKENS=4096 STEPS=5
OPTIONS='--threads 1'
recorded='WINDOW TOKENS STEPS OPTIONS'
settings "$recorded LENGTHS WIDTHS" "$@"
same_settings "$dir" "$recorded"

# run LAYERS D N OPTION...: microseconds per token and peak KiB of a training.
run() {
  layers=$1 d=$2 n=$3
  shift 3
  rm -rf "$dir/run"
  # shellcheck disable=SC2086  # OPTIONS is split into words
  tx-train -q --kind encoder --src "$dir/text$n" --vocab words --context "$n" \
    --layers "$layers" --d-model "$d" --heads $((d / 64)) --d-ff 16 --dropout 0 \
    --batch-tokens $((TOKENS + 32)) --steps "$STEPS" --log-every 1 --save-every 0 $OPTIONS "$@" \
    -o "$dir/run" 2> "$dir/messages" &
  process=$! peak=0
  while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$process/status" 2> /dev/null) && [ "$now" ]; do
    peak=$now
    sleep 0.05
  done
  wait $process || { tail -n 2 "$dir/messages" >&2; exit 1; }
  rate=$(sed -n 's/.*"tokens_per_second":\([0-9.]*\),.*/\1/p' "$dir/run/log.jsonl" |
    sort -g | tail -n 1)
  echo "$rate $peak" | awk '{ print 1e6 / $1, $2 }'
}

table=$dir/measured
touch "$table"
for d in $WIDTHS; do
  for n in $LENGTHS; do
    # As many lines as the steps need, of n - 1 words and </s>.
    awk -v n="$n" -v lines=$((TOKENS * STEPS / n + STEPS + 1)) 'BEGIN {
      for (i = 0; i < lines; ++i) {
        for (j = 1; j < n; ++j) printf "w%d ", (i * 7 + j * j) % 13
        print ""
      } }' > "$dir/text$n"
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
echo
hash_of_settings "$dir" "LENGTHS=$LENGTHS" "WIDTHS=$WIDTHS"
