#!/bin/sh
# tx-bleu against sacreBLEU: time of BLEU, chrF++ and TER, of 10,000 resamples on one and two
# threads, and memory on a long text.
#
#   sh tests/bench/bleu.sh TX-BLEU SACREBLEU REFERENCES [HYPOTHESES]
#
# Prints the best of five CPU times (user and system, seconds) of whole processes that take turns,
# and their ratio. CPU times are reliable on a busy machine; the wall-clock times that are printed
# too need an idle one. By default the hypotheses are the references with words dropped and moved.
# The long text is the same lines repeated, 10,000 and 1,000,000 of them.
set -eu
. "$(dirname "$0")/peak.sh"
tool=$(command -v "$1") peer=$(command -v "$2")
tool=$(realpath "$tool")
dir=$(mktemp -d "${TMPDIR:-/tmp}/tx-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cp "$3" "$dir/ref"
if [ $# -gt 3 ]; then cp "$4" "$dir/hyp"; else
  awk '{ line = ""
         for (i = 1; i <= NF; ++i) if ((NR + i * i) % 11 != 0) line = line $i " "
         if (NR % 3 == 0 && NF > 8) line = $(NF - 3) " " line
         sub(/ $/, "", line); print line }' "$3" > "$dir/hyp"
fi
cd "$dir"

# timed NAME COMMAND...: appends "WALL CPU" of a run to a file.
timed() {
  name=$1
  shift
  { bash -c 'TIMEFORMAT="%R %U %S"; time "$@" > /dev/null 2>&1' time "$@"; } 2>&1 |
    awk '{ print $1, $2 + $3 }' >> "seconds.$name"
}
best() {
  awk 'NR == 1 || $1 < w { w = $1 } NR == 1 || $2 < c { c = $2 } END { print w, c }' "seconds.$1"
}

compare() { # NAME OPTIONS-OF-TX-BLEU OPTIONS-OF-SACREBLEU
  for _ in 1 2 3 4 5; do
    # shellcheck disable=SC2086  # lists of options
    timed "tx.$1" "$tool" $2 ref -i hyp
    # shellcheck disable=SC2086
    timed "peer.$1" "$peer" ref -i hyp $3
  done
  echo "$1 $(best "tx.$1") $(best "peer.$1")" | awk '{
    printf "%-8s tx-bleu %6.3f s   sacrebleu %6.3f s   ratio %.1f (wall %.3f, %.3f, %.1f)\n",
      $1, $3, $5, $5 / $3, $2, $4, $4 / $2 }'
}
echo "$(wc -l < ref) lines, load at the start $(cut -d ' ' -f 1 /proc/loadavg)"
compare BLEU "--metric bleu" "-m bleu"
compare chrF++ "--metric chrf++" "-m chrf --chrf-word-order 2"
compare TER "--metric ter" "-m ter"

awk '{ sub(/ [^ ]*$/, ""); print }' hyp > other
for metric in bleu chrf++ ter; do
  for threads in 1 2; do
    for _ in 1 2 3 4 5; do
      for way in "" --paired-bootstrap --paired-approximate; do
        # shellcheck disable=SC2086
        timed "$metric.$threads${way#--paired}" "$tool" --metric $metric --threads $threads \
          --resamples 10000 --trials 10000 $way ref -i hyp -i other
      done
    done
    for way in bootstrap approximate; do
      echo "$metric $way $threads $(best $metric.$threads) $(best $metric.$threads-$way)" | awk '{
        printf "%-7s two systems, 10,000 paired %-11s %d thread(s): %4.0f ms CPU, %4.0f wall\n",
          $1, $2, $3, 1000 * ($7 - $5), 1000 * ($6 - $4) }'
    done
  done
done

for lines in 10000 1000000; do
  for file in ref hyp; do
    awk -v n=$lines '{ line[NR] = $0 } END { for (i = 0; i < n; ++i) print line[i % NR + 1] }' \
      $file > long.$file
  done
  "$tool" long.ref -i long.hyp > score &
  peak=$(peak_memory $! 0.01)
  wait $!
  echo "BLEU of $lines lines: peak $peak KiB"
done
