#!/bin/sh
# English to German on Multi30k with all six tools.
#   sh examples/multi30k.sh DATA [MINUTES [FOLDER]]
# DATA holds train, val and test_2016_flickr, each as NAME.lc.norm.tok.en and .de (lowercased and
# tokenised, as published scores use them). Trains for MINUTES (30), averages the last 10
# checkpoints, scores test_2016 with beam 5.
set -eu
data=${1:?"usage: multi30k.sh DATA [MINUTES [FOLDER]]"}
minutes=${2:-30}
work=${3:-build/multi30k}
text() { echo "$data/$1.lc.norm.tok.$2"; }
mkdir -p "$work"

tx-bpe train --vocab-size 8000 -o "$work/bpe.model" "$(text train en)" "$(text train de)"
tx-train --preset tiny --src "$(text train en)" --tgt "$(text train de)" \
  --valid-src "$(text val en)" --valid-tgt "$(text val de)" --bpe "$work/bpe.model" \
  --warmup 1000 --steps 0 --minutes "$minutes" --save-every 150 --keep 10 -o "$work/run"
tx-avg --last 10 -o "$work/model.safetensors" "$work/run"
tx-decode -m "$work/model.safetensors" --beam 5 < "$(text test_2016_flickr en)" > "$work/hyp.de"
tx-bleu --tokenize none --lowercase "$(text test_2016_flickr de)" < "$work/hyp.de"
head -n 1 "$(text test_2016_flickr en)" |
  tx-attn-dump -m "$work/model.safetensors" --kinds cross --digits 3 > "$work/attention.jsonl"
