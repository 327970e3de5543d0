#!/bin/sh
# tx-bleu against sacreBLEU's command, whole processes, one after the other; then the memory of a
# long text.
#
#   sh tests/bench/bleu.sh TX-BLEU SACREBLEU REFERENCES [HYPOTHESES]
#
# Best of five CPU times (user and system, seconds) and their ratio. Without HYPOTHESES they are the
# references with words left out and moved. The long text is the same lines over and over, 10,000
# and 1,000,000 of them.
set -eu
tool=$1 peer=$2
room=$(mktemp -d "${TMPDIR:-/tmp}/tx-bench.XXXXXX")
trap 'rm -rf "$room"' EXIT
cp "$3" "$room/ref"
if [ $# -gt 3 ]; then cp "$4" "$room/hyp"; else
  awk '{ line = ""
         for (i = 1; i <= NF; ++i) if ((NR + i * i) % 11 != 0) line = line $i " "
         if (NR % 3 == 0 && NF > 8) line = $(NF - 3) " " line
         sub(/ $/, "", line); print line }' "$3" > "$room/hyp"
fi
cd "$room"

# cpu COMMAND...: the best of five.
cpu() {
  for _ in 1 2 3 4 5; do
    { bash -c 'TIMEFORMAT="%U %S"; time "$@" > /dev/null 2>&1' time "$@"; } 2>&1
  done | awk '{ t = $1 + $2; if (NR == 1 || t < best) best = t } END { printf "%.3f", best }'
}

compare() { # NAME OPTIONS-OF-TX-BLEU OPTIONS-OF-SACREBLEU
  # shellcheck disable=SC2086  # lists of options
  ours=$(cpu "$tool" $2 ref -i hyp)
  # shellcheck disable=SC2086
  theirs=$(cpu "$peer" ref -i hyp $3)
  echo "$1 $ours $theirs" |
    awk '{ printf "%-8s tx-bleu %6.3f s   sacrebleu %6.3f s   %5.1f times\n", $1, $2, $3, $3 / $2 }'
}
echo "$(wc -l < ref) lines, CPU seconds of a process"
compare BLEU "--metric bleu" "-m bleu"
compare chrF++ "--metric chrf++" "-m chrf --chrf-word-order 2"
compare TER "--metric ter" "-m ter"

for lines in 10000 1000000; do
  for file in ref hyp; do
    awk -v n=$lines '{ line[NR] = $0 } END { for (i = 0; i < n; ++i) print line[i % NR + 1] }' \
      $file > long.$file
  done
  "$tool" long.ref -i long.hyp > score &
  most=0
  while kill -0 $! 2> /dev/null; do
    now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$!/status 2> /dev/null || true)
    [ "${now:-0}" -le "$most" ] || most=$now
    sleep 0.01
  done
  wait $!
  echo "BLEU of $lines lines: $most KiB at most"
done
