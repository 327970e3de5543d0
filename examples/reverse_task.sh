#!/bin/sh
# The reverse task of tutorials: 10 symbols, lengths 3 to 8, 2,000 pairs, preset toy; once with a
# word vocabulary and once with subwords. Prints how many of 500 unseen sequences are reversed
# correctly. Run it again to resume the runs in DIR (build/reverse), also with more STEPS (960).
#   sh examples/reverse_task.sh [DIR [STEPS]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
work=${1:-build/reverse}
steps=${2:-960}
mkdir -p "$work"
sh "$here/reverse.sh" "$work"
tx-bpe train --vocab-size 300 -o "$work/bpe.model" "$work/train.src" "$work/train.tgt"

for vocabulary in words subwords; do
  if [ "$vocabulary" = words ]; then set -- --vocab words; else set -- --vocab "$work/bpe.model"; fi
  start=$(date +%s)
  train "$work/$vocabulary" "$steps" --preset toy --src "$work/train.src" --tgt "$work/train.tgt" --valid-src \
    "$work/valid.src" --valid-tgt "$work/valid.tgt" "$@" -q
  seconds=$(($(date +%s) - start))
  tx-decode -m "$work/$vocabulary" < "$work/test.src" > "$work/$vocabulary.out"
  paste "$work/$vocabulary.out" "$work/test.tgt" |
    awk -F '\t' -v kind="$vocabulary" -v s="$seconds" '$1 == $2 { n++ }
      END { printf "%s: %d of %d reversed after %d s of training\n", kind, n, NR, s }'
done
