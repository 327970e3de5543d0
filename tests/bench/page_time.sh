#!/bin/sh
# Speed of an attention page in headless Chromium: size of the file, time to load it, and time
# from a click to the drawing. The page has one sentence, by a model of the base shape with random
# weights.
#
#   PATH=$PWD/build/bin:$PWD/build/tests:$PATH sh tests/bench/page_time.sh [SETTING=VALUE]...
# PIECES=30    tokens of each side, with </s>   LAYERS=6 HEADS=8 D_MODEL=512    of the model
# SENTENCES=1  of the page                      ROUNDS=5     the median counts
set -eu
PIECES=30 LAYERS=6 HEADS=8 D_MODEL=512 SENTENCES=1 ROUNDS=5
for setting; do
  case $setting in
    PIECES=* | LAYERS=* | HEADS=* | D_MODEL=* | SENTENCES=* | ROUNDS=*)
      eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "page_time.sh: unknown setting '$setting'" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make_model "$work/model" words 1000 layers "$LAYERS" heads "$HEADS" d_model "$D_MODEL" \
  d_ff $((4 * D_MODEL)) max_positions 512
for side in 1 2; do
  awk -v lines="$SENTENCES" -v tokens=$((PIECES - 1)) -v side=$side 'BEGIN {
    for (i = 0; i < lines; ++i) {
      line = ""
      for (j = 0; j < tokens; ++j) line = line "w" 4 + (i * 31 + j * (5 + side)) % 900 " "
      print line
    }
  }' > "$work/$side"
done
tx-attn-dump -m "$work/model" --html "$work/page.html" --html-limit 1000 --tgt "$work/2" "$work/1"
awk -v bytes="$(wc -c < "$work/page.html")" -v tokens="$PIECES" -v sentences="$SENTENCES" 'BEGIN {
  printf "%d x %d tokens, sentences: %d; %.2f MB\n", tokens, tokens, sentences, bytes / 1e6 }'
python3 "$(dirname "$0")/../browser/page_time.py" "$work/page.html" "$ROUNDS"
