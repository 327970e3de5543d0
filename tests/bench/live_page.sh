#!/bin/sh
# Size and speed of pages that contain a model (tx-attn-dump --live), in headless Chromium: size of
# the file, time until the page has loaded the model, and time of a greedy translation of 15 words.
# Two models of random weights, presets tiny and base with 8,000 tokens, whose outputs have 17
# tokens, and MODEL if given. With TEXT, also compares the outputs of MODEL's page with those of
# tx-decode --precision int8, and its tokens with those of tx-bpe, in Node.js.
#
#   PATH=$PWD/build/bin:$PWD/build/tests:$PATH sh tests/bench/live_page.sh [SETTING=VALUE]...
# ROUNDS=5   the median counts   MODEL=   a model   TEXT=   lines in its source language
set -eu
ROUNDS=5 MODEL='' TEXT=''
for setting; do
  case $setting in
    ROUNDS=* | MODEL=* | TEXT=*) eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "live_page.sh: unknown setting '$setting'" >&2; exit 2 ;;
  esac
done
browser=$(dirname "$0")/../browser
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
random() { # NAME OPTION...
  name=$1
  shift
  make_model "$work/$name" words 8000 max_positions 512 "$@"
}
# time_page NAME MODEL SENTENCE [EXTRA]
time_page() {
  tx-attn-dump -m "$2" --html "$work/page.html" --live
  awk -v name="$1" -v bytes="$(wc -c < "$work/page.html")" 'BEGIN {
    printf "%s: %.2f MB\n", name, bytes / 1e6 }'
  python3 "$browser/live_time.py" "$work/page.html" "$ROUNDS" "$3" "${4-50}"
}
words=$(seq -s ' ' -f 'w%g' 100 114)
random tiny layers 4 heads 4 d_model 128 d_ff 256
time_page tiny "$work/tiny" "$words" 1
random base layers 6 heads 8 d_model 512 d_ff 2048
time_page base "$work/base" "$words" 1
[ -n "$MODEL" ] || exit 0
sentence=$(awk 'NF == 15 { print; exit }' "${TEXT:-/dev/null}")
time_page "$MODEL" "$MODEL" "${sentence:-$words}"
[ -n "$TEXT" ] || exit 0
tx-decode -q -m "$MODEL" --precision int8 --beam 1 --json < "$TEXT" > "$work/decoded"
tx-bpe encode -m "$MODEL" < "$TEXT" > "$work/encoded"
node "$browser/../node/parity_test.js" "$work/page.html" "$TEXT" "$work/decoded" "$work/encoded" 1
