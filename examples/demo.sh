#!/bin/sh
# make demo: translates English number words to German ones, from text to a score and an attention
# map. Trains STEPS (1,000) steps in DIR (build/demo); run it again to resume. Needs the tools in
# PATH.
#   sh examples/demo.sh [DIR [STEPS]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
work=${1:-build/demo}
mkdir -p "$work"

echo "== writing number words: 60,000 training pairs, 1,000 unseen test numbers"
sh "$here/number_words.sh" 60000 500 1000 "$work" > "$work/corpus.log"

echo "== training the subword model"
tx-bpe train --vocab-size 500 -o "$work/bpe.model" "$work/train.en" "$work/train.de"

echo "== training (a minute or two on two cores)"
train "$work/run" "${2:-1000}" --src "$work/train.en" --tgt "$work/train.de" --vocab "$work/bpe.model" \
  --valid-src "$work/valid.en" --valid-tgt "$work/valid.de" \
  --layers 2 --d-model 128 --d-ff 512 --heads 4 --norm-position pre --dropout 0.05 \
  --batch-tokens 2048 --schedule linear --lr 0.004 --warmup 200 --save-every 250

# translate NAME: translates NAME.en with the best checkpoint to NAME.out.
translate() { tx-decode -m "$work/run" < "$work/$1.en" > "$work/$1.out"; }
# show NAME: prints each number, its translation, and the reference if they differ.
show() {
  paste "$work/$1.en" "$work/$1.out" "$work/$1.de" |
    awk -F '\t' '{ printf "   %s\n   -> %s%s\n", $1, $2, $2 == $3 ? "" : "   (should be " $3 ")" }'
}
# count NAME: prints how many translations are correct.
count() {
  paste "$work/$1.out" "$work/$1.de" |
    awk -F '\t' '$1 == $2 { n++ } END { printf "%d of %d correct (%.1f %%)", n, NR, 100 * n / NR }'
}

echo "== translating 1,000 numbers that are not in the training text"
translate test
show test | head -n 16

echo "== translating the numbers below 1,000, most of which are in the training text"
awk 'BEGIN { for (n = 0; n < 1000; ++n) print n }' | sh "$here/number_words.sh" --words > "$work/small"
cut -f 1 "$work/small" > "$work/small.en"
cut -f 2 "$work/small" > "$work/small.de"
translate small
show small | awk '/^   (two|four|five|eight|twelve|ninety-nine)$/ { print; getline; print }'

echo "== score"
echo "   unseen:      $(count test)"
echo "   below 1,000: $(count small)"
tx-bleu --tokenize char "$work/test.de" < "$work/test.out"

echo "== attention of one number: rows are German tokens, columns English ones"
echo "twenty-one thousand three hundred and forty-five" |
  tx-attn-dump -m "$work/run" --heatmap
