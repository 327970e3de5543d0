#!/bin/sh
# tx-decode for one line: wall-clock seconds and peak memory, medians of five runs, by file and
# precision; then the memory (PSS) of 1 and 8 processes with an int8 file that wait for their next
# line. Needs GNU time and an idle machine.
#
#   sh tests/bench/startup.sh MODEL LINE [BIN]
set -eu
model=${1:?"usage: startup.sh MODEL LINE [BIN]"} line=${2:?"a line of text is missing"} bin=${3:-build/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for to in fp32 bf16 int8; do "$bin/tx-avg" -q --to $to -o "$work/$to" "$model"; done
echo "$line" > "$work/line"
for how in "fp32 fp32" "fp32 bf16" "bf16 bf16" "fp32 int8" "int8 int8"; do
  set -- $how
  for _ in 1 2 3 4 5; do
    /usr/bin/time -f "%e %M" -o "$work/cost" \
      "$bin/tx-decode" -m "$work/$1" --precision "$2" --max-extra 5 "$work/line" > /dev/null
    cat "$work/cost"
  done | sort -n | awk -v how="$how" -v size="$(wc -c < "$work/$1")" '
    NR == 3 { split(how, h, " ")
      printf "%s file of %.1f MB, --precision %s: %s s, peak %.1f MB\n",
             h[1], size / 1e6, h[2], $1, $2 * 1024 / 1e6 }'
done
for count in 1 8; do
  for _ in $(seq $count); do
    (cat "$work/line"; sleep 8) | "$bin/tx-decode" -m "$work/int8" --threads 1 > /dev/null &
  done
  sleep 5
  for id in $(pgrep -f "$work/int8"); do
    awk '/^Pss:/ { print $2 }' "/proc/$id/smaps_rollup" 2> /dev/null || :
  done | awk -v count=$count '{ sum += $1 } END {
    printf "waiting, int8 file, processes: %d, total memory: %.1f MB\n", count, sum * 1024 / 1e6 }'
  wait
done
