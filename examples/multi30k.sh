#!/bin/sh
# Trains and scores English to German, or another pair, on Multi30k with six of the tools.
#   sh examples/multi30k.sh DATA [STEPS [DIR [TX-TRAIN-OPTION...]]]
# DATA is data/task1/tok of https://github.com/multi30k/dataset: train, val and test_2016_flickr,
# each as NAME.lc.norm.tok.en and .de, lowercased and tokenised, as for published scores. Trains
# STEPS (3,500) steps of 2,048 target tokens, averages the last 10 checkpoints, or all if there are
# fewer, scores test_2016 (beam 5, alpha 1) and draws one attention map. Run it again to resume the
# run in DIR (build/multi30k); other STEPS or options need another DIR.
# The preset is modern. PRESET=small trains the paper's architecture at this size, for 8,000 STEPS of
# 8,192 target tokens, PRESET=tiny the same with pre-norm, for 12,000 STEPS of 2,048.
# TO=fr translates to French, FROM=de TO=en from German to English.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
data=${1:?"usage: multi30k.sh DATA [STEPS [DIR [TX-TRAIN-OPTION...]]]"}
preset=${PRESET:-modern}
case $preset in
  small) usual=8000 ;;
  tiny) usual=12000 ;;
  *) usual=3500 ;;
esac
steps=${2:-$usual}
from=${FROM:-en} to=${TO:-de}
work=${3:-build/multi30k}
shift "$(($# < 3 ? $# : 3))"
# shellcheck disable=SC2034  # recorded
options=$*
text() { echo "$data/$1.lc.norm.tok.$2"; }
[ -e "$work/run" ] || rm -f "$work/settings"
same_settings "$work" "preset from to steps options" "$(text train "$from")" "$(text train "$to")" \
  "$(text val "$from")" "$(text val "$to")"

tx-bpe train --vocab-size 8000 -o "$work/bpe.model" "$(text train "$from")" "$(text train "$to")"
train "$work/run" "$steps" --preset "$preset" --src "$(text train "$from")" \
  --tgt "$(text train "$to")" --valid-src "$(text val "$from")" --valid-tgt "$(text val "$to")" \
  --vocab "$work/bpe.model" "$@"
tx-avg --last "$(checkpoints "$work/run" 10)" -o "$work/model.safetensors" "$work/run"
tx-decode -m "$work/model.safetensors" --beam 5 --alpha 1 \
  < "$(text test_2016_flickr "$from")" > "$work/hyp.$to"
tx-bleu --tokenize none --lowercase "$(text test_2016_flickr "$to")" < "$work/hyp.$to"
head -n 1 "$(text test_2016_flickr "$from")" |
  tx-attn-dump -m "$work/model.safetensors" --kinds cross --average all --heatmap
