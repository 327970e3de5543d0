#!/bin/sh
# SimCut and Bi-SimCut (Gao et al., 2022): training with --consistency simcut, and the same after
# pretraining in both directions at once, compared with plain training.
#   sh examples/simcut.sh DATA DIR [SETTING=VALUE]... > TABLE
# DATA and the record of settings, DIR/settings, are as for paper/runs.sh. Run it again to resume.
# Settings, in addition to those of compare() in train.sh:
# STEPS=3500  BASE="--preset modern"  of the plain model, of SimCut, and of the pretraining
# SIMCUT="--consistency simcut"
# TUNE=1750  OPTIONS="--lr 0.002 --warmup 400 --dropout 0.3"  steps and options after the pretraining
# DECODE="--beam 5 --alpha 1"
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
data=${1:?"usage: simcut.sh DATA DIR [SETTING=VALUE]... > TABLE"}
dir=${2:?"DIR is missing"}
shift 2
STEPS=3500 BASE='--preset modern' SIMCUT='--consistency simcut' TUNE=1750
OPTIONS='--lr 0.002 --warmup 400 --dropout 0.3'
DECODE='--beam 5 --alpha 1'
compare 'SIMCUT TUNE OPTIONS DECODE' "$@"

cp "$src" "$dir/pairs.$FROM"
cp "$tgt" "$dir/pairs.$TO"
cat "$src" "$tgt" > "$dir/directions.$FROM"
cat "$tgt" "$src" > "$dir/directions.$TO"
[ -e "$dir/bpe.model" ] || tx-bpe train --vocab-size "$VOCAB" -o "$dir/bpe.model" "$src" "$tgt"

# shellcheck disable=SC2086  # options of several words, here and below
{
  learn plain pairs "$FROM" "$TO"
  learn simcut pairs "$FROM" "$TO" $SIMCUT
  learn both directions "$FROM" "$TO" $SIMCUT
}
cp -L "$dir/both/last.safetensors" "$dir/both.safetensors"
BASE=$OPTIONS STEPS=$TUNE
# shellcheck disable=SC2086
learn bi-simcut pairs "$FROM" "$TO" --init "$dir/both.safetensors" $SIMCUT

echo '| training | score |'
echo '|---|---|'
# shellcheck disable=SC2086
for name in plain simcut both bi-simcut; do
  result=$(score $name $DECODE)
  echo "| $name | $result |"
done
echo
hash_of_settings "$dir"
