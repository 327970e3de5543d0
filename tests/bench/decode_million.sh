#!/bin/sh
# A million short lines through a pipe: as many out as in, in order, and no more memory than for
# fifty thousand. Run by hand, with tools and helpers of a build in PATH:
#   PATH=$PWD/build/bin:$PWD/build/tests:$PATH sh tests/bench/decode_million.sh [LINES [DEVICE]]
set -eu
. "$(dirname "$0")/peak.sh"
count=${1:-1000000} device=${2:-cpu}
room=$(mktemp -d "${TMPDIR:-/tmp}/tx-million.XXXXXX")
trap 'rm -rf "$room"' EXIT
cd "$room"
make_model model layers 1 d_model 16 d_ff 16 heads 2

# Line i holds a word that tells i modulo 50; every tenth is empty.
lines() {
  awk -v n="$1" 'BEGIN { for (i = 0; i < n; ++i) print (i % 10 ? "w" 4 + i % 50 : "") }'
}

# run N: peak memory in KiB; each line must have the answer that its word has alone.
run() {
  lines "$1" | {
    exec 3<&0  # what runs in the background would read nothing
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
echo "$count lines in $(($(date +%s) - begin)) s; memory at its peak: $small KiB for 50000 lines," \
  "$large KiB for $count"
[ "$large" -le $((small + small / 10)) ] || { echo 'memory grows with the input' >&2; exit 1; }
