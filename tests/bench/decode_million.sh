#!/bin/sh
# A million short lines through a pipe: the output must have as many lines in the same order, and
# peak memory must not exceed that of 50,000 lines by more than 10 %.
#   PATH=$PWD/build/bin:$PWD/build/tests:$PATH sh tests/bench/decode_million.sh [LINES [DEVICE]]
set -eu
. "$(dirname "$0")/peak.sh"
count=${1:-1000000} device=${2:-cpu}
dir=$(mktemp -d "${TMPDIR:-/tmp}/tx-million.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir"
make_model model layers 1 d_model 16 d_ff 16 heads 2

# Line i has a word for i modulo 50; every tenth line is empty.
lines() {
  awk -v n="$1" 'BEGIN { for (i = 0; i < n; ++i) print (i % 10 ? "w" 4 + i % 50 : "") }'
}

# run N: prints peak memory in KiB; each line must have the output of its word alone.
run() {
  lines "$1" | {
    exec 3<&0  # background processes get no standard input
    tx-decode -m model --device "$device" --beam 1 --max-extra 1 --threads 2 <&3 > out &
    pid=$!
    peak_memory "$pid"
    wait "$pid"
  }
  lines 50 | tx-decode -m model --device "$device" --beam 1 --max-extra 1 > answers
  awk -v n="$1" 'NR == FNR { answer[NR - 1] = $0; next }
    $0 != answer[(FNR - 1) % 50] { print "line " FNR " has another answer"; exit 1 }
    END { if (FNR != n) { print FNR " lines instead of " n; exit 1 } }' answers out >&2
}

begin=$(date +%s)
small=$(run 50000)
large=$(run "$count")
echo "$count lines in $(($(date +%s) - begin)) s; peak memory: $small KiB for 50,000 lines," \
  "$large KiB for $count"
[ "$large" -le $((small + small / 10)) ] || { echo 'memory grows with the input' >&2; exit 1; }
