#!/bin/sh
# The reverse task of tutorials: 10 symbols, lengths 3 to 8, 2,000 pairs. Trains three models of the
# same size: "tutorial" with the settings of the tutorials (words, Adam at a constant rate of
# 0.0001, dropout 0.1, no label smoothing), and preset toy with words and with subwords. Prints
# how many of 500 unseen sequences each reverses correctly, and its first three. Run it again to
# resume the runs in DIR (build/reverse), also with more STEPS (960: 30 epochs of 64 pairs).
#   sh examples/reverse_task.sh [DIR [STEPS]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
work=${1:-build/reverse}
steps=${2:-960}
mkdir -p "$work"
sh "$here/reverse.sh" "$work"
tx-bpe train --vocab-size 300 -o "$work/bpe.model" "$work/train.src" "$work/train.tgt"

for model in tutorial words subwords; do
  case $model in
    tutorial) set -- --vocab words --schedule constant --lr 0.0001 --warmup 0 --dropout 0.1 --label-smoothing 0 \
      --beta2 0.999 --epsilon 1e-8 ;;
    words) set -- --vocab words ;;
    subwords) set -- --vocab "$work/bpe.model" ;;
  esac
  start=$(date +%s)
  train "$work/$model" "$steps" --preset toy --src "$work/train.src" --tgt "$work/train.tgt" \
    --valid-src "$work/valid.src" --valid-tgt "$work/valid.tgt" "$@" -q
  seconds=$(($(date +%s) - start))
  tx-decode -q -m "$work/$model" < "$work/test.src" > "$work/$model.out"
  paste "$work/test.src" "$work/test.tgt" "$work/$model.out" |
    awk -F '\t' -v model="$model" -v s="$seconds" '$2 == $3 { n++ }
      NR <= 3 { shown = shown sprintf("  Source: %-17s Expected: %-17s Predicted: %s\n", $1, $2, $3) }
      END { printf "%s: %d of %d reversed after %d s of training\n%s", model, n, NR, s, shown }'
done
