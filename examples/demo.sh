#!/bin/sh
# A first model. make demo: translates English number words to German ones, from text to a score and
# an attention map. Trains STEPS (1,000) steps in DIR (build/demo); run it again to resume. Needs the
# tools in PATH.
#   sh examples/demo.sh [DIR [STEPS]]
# DIR/demo.safetensors is the model that `make install` installs for tx-decode -m demo, in int8: at
# most 1 MB.
#   sh examples/demo.sh DATA [STEPS [DIR]]
# If DATA contains Multi30k, trains on its sentences: multi30k.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ ! -e "${1-}/train.lc.norm.tok.en" ] || exec sh "$here/multi30k.sh" "$@"
. "$here/train.sh"
work=${1:-build/demo}
if [ -e "$work/train.en" ] && [ ! -e "$work/corpus.log" ]; then
  echo "demo.sh: $work contains a text of yours, train.en, and no Multi30k (train.lc.norm.tok.en);" \
    "use another directory" >&2
  exit 1
fi
mkdir -p "$work"

echo "== writing number words: 62,000 training pairs, 1,000 unseen test numbers"
sh "$here/number_words.sh" 60000 500 1000 "$work" > "$work/corpus.log"
# The first 100 lines, the numbers below 100, 20 times more. As people type them, some of the English
# numbers have no hyphens, some begin with a capital letter.
for side in en de; do
  awk 'NR <= 100 { small = small $0 "\n" } { print }
    END { for (i = 0; i < 20; ++i) printf "%s", small }' "$work/train.$side" > "$work/all.$side"
done
awk 'NR % 7 < 2 { gsub("-", " ") } NR % 3 == 0 { $0 = toupper(substr($0, 1, 1)) substr($0, 2) } 1' \
  "$work/all.en" > "$work/train.en"
mv "$work/all.de" "$work/train.de"
rm "$work/all.en"

echo "== training the subword model"
tx-bpe train --vocab-size 500 -o "$work/bpe.model" "$work/train.en" "$work/train.de"

echo "== training (a minute or two on two cores)"
train "$work/run" "${2:-1000}" --src "$work/train.en" --tgt "$work/train.de" --vocab "$work/bpe.model" \
  --valid-src "$work/valid.en" --valid-tgt "$work/valid.de" \
  --layers 2 --d-model 128 --d-ff 256 --heads 4 --norm-position pre --dropout 0.05 \
  --batch-tokens 2048 --schedule linear --lr 0.004 --warmup 200 --save-every 250

echo "== writing the best checkpoint in int8"
model=$work/demo.safetensors
tx-avg --to int8 -o "$model" "$work/run"

# translate NAME: translates NAME.en to NAME.out.
translate() { tx-decode -m "$model" < "$work/$1.en" > "$work/$1.out"; }
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
  tx-attn-dump -m "$model" --heatmap

echo "== your turn: echo forty-two | tx-decode -m $model"
