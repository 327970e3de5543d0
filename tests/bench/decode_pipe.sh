#!/bin/sh
# tx-decode in a pipe: time to the first output, latency of a single line, and speed and peak
# memory for many lines.
#
#   PATH=build/bin:build/tests:$PATH sh tests/bench/decode_pipe.sh MODEL TEXT [SETTING=VALUE]...
# DEVICE=auto  PRECISION=auto  BEAM=4  EXTRA=50 (--max-extra)   of tx-decode
# FORM=          --pieces if TEXT has subwords
# LINES=200      lines sent one by one     MANY=20000   lines sent together; TEXT is repeated
set -eu
. "$(dirname "$0")/peak.sh"
model=${1:?"usage: decode_pipe.sh MODEL TEXT [SETTING=VALUE]..."} text=${2:?"TEXT is missing"}
shift 2
DEVICE=auto PRECISION=auto BEAM=4 EXTRA=50 FORM='' LINES=200 MANY=20000
for setting; do
  case $setting in
    DEVICE=* | PRECISION=* | BEAM=* | EXTRA=* | FORM=* | LINES=* | MANY=*)
      eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "decode_pipe.sh: unknown setting '$setting'" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d "${TMPDIR:-/tmp}/tx-pipe.XXXXXX")
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2086  # split into words
set -- tx-decode -m "$model" --device "$DEVICE" --precision "$PRECISION" --beam "$BEAM" \
  --max-extra "$EXTRA" $FORM

time_lines "$LINES" "$@" < "$text"

awk -v max="$MANY" '{ line[NR] = $0 }
  END { for (i = 0; i < max; ++i) print line[1 + i % NR] }' "$text" > "$work/in"
mkfifo "$work/pipe"
begin=$(date +%s%N)
cat "$work/in" > "$work/pipe" &
"$@" < "$work/pipe" > "$work/out" &
pid=$!
peak=$(peak_memory "$pid")
wait "$pid"
end=$(date +%s%N)
[ "$(wc -l < "$work/out")" -eq "$MANY" ] || { echo "not $MANY output lines" >&2; exit 1; }
awk -v ms=$(((end - begin) / 1000000)) -v peak="$peak" '{ n += NF + 1 }
  END { printf "%d lines through a pipe: %.1f s with start-up, %.0f lines/s, %.0f words/s," \
    " %d MiB of memory at the peak\n", NR, ms / 1000, NR / ms * 1000, n / ms * 1000, peak / 1024 }' \
  "$work/out"
