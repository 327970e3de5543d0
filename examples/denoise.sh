#!/bin/sh
# Pretraining on text without translations, as T5 (Raffel et al., 2020): an encoder-decoder learns
# to fill gaps in lines of both languages, then to translate with few pairs; beside no pretraining.
#   sh examples/denoise.sh DATA DIR [SETTING=VALUE]... > TABLE
# DATA and the record of settings, DIR/settings, are as for paper/runs.sh. Run it again to resume.
# Settings, in addition to those of compare() in train.sh:
# PAIRS=2000   the pairs are the first PAIRS of TRAIN. Of the others, the first half gives only its
#              sources, the second only its targets, so that no line has its translation
# DENOISE=600  steps of pretraining
# STEPS=600    steps with the pairs, with and without pretraining
# BASE="--preset modern"  options of all three
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
data=${1:?"usage: denoise.sh DATA DIR [SETTING=VALUE]... > TABLE"}
dir=${2:?"DIR is missing"}
shift 2
PAIRS=2000 DENOISE=600 STEPS=600 BASE='--preset modern'
compare 'PAIRS DENOISE' "$@"

for side in "$FROM" "$TO"; do head -n "$PAIRS" "$(text "$TRAIN" "$side")" > "$dir/pairs.$side"; done
half=$((($(wc -l < "$src") - PAIRS) / 2))
{
  tail -n "+$((PAIRS + 1))" "$src" | head -n "$half"
  tail -n "+$((PAIRS + 1 + half))" "$tgt"
} > "$dir/monolingual"
[ -e "$dir/bpe.model" ] || tx-bpe train --vocab-size "$VOCAB" -o "$dir/bpe.model" \
  "$dir/pairs.$FROM" "$dir/pairs.$TO" "$dir/monolingual"

# shellcheck disable=SC2086  # BASE is split into words
quiet pretrained train "$dir/pretrained" "$DENOISE" --denoise $BASE --vocab "$dir/bpe.model" \
  --src "$dir/monolingual" --valid-src "$(text "$VALID" "$FROM")" \
  --valid-src "$(text "$VALID" "$TO")" --keep 1
learn none pairs "$FROM" "$TO"
learn tuned pairs "$FROM" "$TO" --init "$dir/pretrained"

none=$(score none)
tuned=$(score tuned)
echo '| pretraining | lines | pairs | score |'
echo '|---|---|---|---|'
echo "| none | | $PAIRS | $none |"
echo "| filling gaps | $(wc -l < "$dir/monolingual") | $PAIRS | $tuned |"
echo
hash_of_settings "$dir"
