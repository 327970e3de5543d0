#!/bin/sh
# Are there specialised heads? The scores of find_heads.sh for models of few and of many steps.
#   sh examples/paper/heads_control.sh DATA DIR [SETTING=VALUE]... > TABLES
# DATA and the record of settings, DIR/settings, are as for runs.sh. Run it again to resume.
# Pronouns are those of VALID, and those of the sentences of coreference.awk. The best head is
# selected on one half of the lines; the table has its score on the other half: mean, smallest and
# largest over the seeds.
# Settings, in addition to those of compare() in ../train.sh:
# SEEDS="1 2 3 4 5"  STEPS="1 50 2000": checkpoints of each run, in this order. The warm-up of BASE
#                    must be longer than all but the last, so that they are steps of the same run
# BASE="--preset tiny --schedule cosine --lr 0.005 --warmup 400"
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
data=${1:?"usage: heads_control.sh DATA DIR [SETTING=VALUE]... > TABLES"}
dir=${2:?"DIR is missing"}
shift 2
SEEDS='1 2 3 4 5' STEPS='1 50 2000' BASE='--preset tiny --schedule cosine --lr 0.005 --warmup 400'
compare SEEDS "$@"
[ -e "$dir/bpe.model" ] || tx-bpe train --vocab-size "$VOCAB" -o "$dir/bpe.model" "$src" "$tgt"
PAIRS='his:man,guy,boy,father her:woman,lady,girl,mother'
awk -f "$here/coreference.awk" > "$dir/coreference"

for seed in $SEEDS; do
  for steps in $STEPS; do
    model=$dir/$seed-$steps
    [ -e "$model.safetensors" ] || {
      # shellcheck disable=SC2086  # BASE is split into words
      quiet "$seed" train "$dir/$seed" "$steps" $BASE --seed "$seed" --vocab "$dir/bpe.model" \
        --src "$src" --tgt "$tgt" --keep 1 --cache "$dir/cache"
      cp -L "$dir/$seed/last.safetensors" "$model.safetensors"
    }
    [ -e "$model.scores" ] || {
      for text in "$(text "$VALID" "$FROM")" "$dir/coreference"; do
        case $text in */coreference) set -- "PAIRS=$PAIRS" ;; *) set -- ;; esac
        sh "$here/find_heads.sh" "$model.safetensors" "$text" "$model.figures" "$@" > "$model.table"
        sed -n "s/^| \(.* | [0-9.]* | [0-9.]*\) |$/$steps|${text##*/}|\1/p" "$model.table"
      done > "$model.new"
      mv "$model.new" "$model.scores"
    }
    cat "$model.scores"
  done
done > "$dir/scores"

# shellcheck disable=SC2086  # a column for each of STEPS
echo "| text | what | cases |$(printf ' step %s |' $STEPS)"
awk -F ' *[|] *' -v all="$STEPS" '
  {
    row = $2 " | " $3 " | " $9
    if (!(row in seen)) name[++rows] = row
    seen[row]
    x = $7  # on the lines that did not select
    i = row SUBSEP $1
    ++n[i]; sum[i] += x
    if (n[i] == 1 || x < min[i]) min[i] = x
    if (n[i] == 1 || x > max[i]) max[i] = x
  }
  END {
    steps = split(all, step, " ")
    printf "|---|---|---|"
    for (k = 1; k <= steps; ++k) printf "---|"
    for (r = 1; r <= rows; ++r) {
      printf "\n| %s |", name[r]
      for (k = 1; k <= steps; ++k) {
        i = name[r] SUBSEP step[k]
        printf " %.3f (%.3f to %.3f) |", sum[i] / n[i], min[i], max[i]
      }
    }
    print ""
  }' "$dir/scores"
echo
hash_of_settings "$dir"
