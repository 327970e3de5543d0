#!/bin/sh
# make demo: English number words to German number words, from nothing to a score and an attention
# map. The tools are found on PATH; work goes to FOLDER (build/demo). Trains STEPS (1000); run again,
# it goes on with the run in the folder.
#   sh examples/demo.sh [FOLDER [STEPS]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
work=${1:-build/demo}
mkdir -p "$work"

echo "== writing number words: 60,000 pairs to learn from, 1,000 numbers kept unseen"
sh "$here/number_words.sh" 60000 500 1000 "$work" > "$work/corpus.log"

echo "== learning subwords"
tx-bpe train --vocab-size 500 -o "$work/bpe.model" "$work/train.en" "$work/train.de"

echo "== training (a minute or two on two cores)"
train "$work/run" "${2:-1000}" --src "$work/train.en" --tgt "$work/train.de" --vocab "$work/bpe.model" \
  --valid-src "$work/valid.en" --valid-tgt "$work/valid.de" \
  --layers 2 --d-model 128 --d-ff 512 --heads 4 --norm-position pre --dropout 0.05 \
  --batch-tokens 2048 --schedule linear --lr 0.004 --warmup 200 --save-every 250

# translate NAME: NAME.en by the best model of the run, to NAME.out.
translate() { tx-decode -m "$work/run" < "$work/$1.en" > "$work/$1.out"; }
# show NAME: each number, its translation, and the right one where it is another.
show() {
  paste "$work/$1.en" "$work/$1.out" "$work/$1.de" |
    awk -F '\t' '{ printf "   %s\n   -> %s%s\n", $1, $2, $2 == $3 ? "" : "   (should be " $3 ")" }'
}
# count NAME: how many are right.
count() {
  paste "$work/$1.out" "$work/$1.de" |
    awk -F '\t' '$1 == $2 { n++ } END { printf "%d of %d exactly right (%.1f %%)", n, NR, 100 * n / NR }'
}

echo "== translating 1,000 numbers that the model has never seen"
translate test
show test | head -n 16

echo "== translating the numbers below 1,000, most of which stand in the training text"
awk 'BEGIN { for (n = 0; n < 1000; ++n) print n }' | sh "$here/number_words.sh" --words > "$work/small"
cut -f 1 "$work/small" > "$work/small.en"
cut -f 2 "$work/small" > "$work/small.de"
translate small
show small | awk '/^   (two|four|five|eight|twelve|ninety-nine)$/ { print; getline; print }'

echo "== score"
echo "   never seen:  $(count test)"
echo "   below 1,000: $(count small)"
tx-bleu --tokenize char "$work/test.de" < "$work/test.out"

echo "== where the decoder looks: one number, rows are German pieces, columns English ones"
echo "twenty-one thousand three hundred and forty-five" |
  tx-attn-dump -m "$work/run" --heatmap
