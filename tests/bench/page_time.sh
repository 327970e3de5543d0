#!/bin/sh
# How fast a page of attention is in Chromium without a window: the size of the file, the time to
# load it, and the time from a click to the picture that it asks for. The page is of one sentence
# of so many pieces on either side by a model of base's shape with random weights. With tools and
# helpers of a build in PATH:
#
#   PATH=$PWD/build/bin:$PWD/build/tests:$PATH sh tests/bench/page_time.sh [SETTING=VALUE]...
# PIECES=30    of either side, with </s>     LAYERS=6 HEADS=8 D_MODEL=512    of the model
# SENTENCES=1  of the page                   ROUNDS=5     the median counts
set -eu
PIECES=30 LAYERS=6 HEADS=8 D_MODEL=512 SENTENCES=1 ROUNDS=5
for setting; do
  case $setting in
    PIECES=* | LAYERS=* | HEADS=* | D_MODEL=* | SENTENCES=* | ROUNDS=*)
      eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "page_time.sh: no setting '$setting'" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make_model "$work/model" words 1000 layers "$LAYERS" heads "$HEADS" d_model "$D_MODEL" \
  d_ff $((4 * D_MODEL)) max_positions 512
for side in 1 2; do
  awk -v lines="$SENTENCES" -v pieces=$((PIECES - 1)) -v side=$side 'BEGIN {
    for (i = 0; i < lines; ++i) {
      line = ""
      for (j = 0; j < pieces; ++j) line = line "w" 4 + (i * 31 + j * (5 + side)) % 900 " "
      print line
    }
  }' > "$work/$side"
done
tx-attn-dump -m "$work/model" --html "$work/page.html" --html-limit 1000 --tgt "$work/2" "$work/1"
awk -v bytes="$(wc -c < "$work/page.html")" -v pieces="$PIECES" -v sentences="$SENTENCES" 'BEGIN {
  printf "%d x %d pieces, sentences: %d; %.2f MB\n", pieces, pieces, sentences, bytes / 1e6 }'
python3 "$(dirname "$0")/../browser/page_time.py" "$work/page.html" "$ROUNDS"
