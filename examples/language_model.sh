#!/bin/sh
# A language model from nothing: it learns to count aloud and goes on counting.
#
#   sh language_model.sh [FOLDER [STEPS]]    default: language_model, 1500 steps
#
# Each line of the text counts in English words from some number on, "forty-one, forty-two, ...".
# The model (a decoder alone) never saw the lines that it continues afterwards; the number that
# follows the prompt is right where it is the next one. It can be run again: it goes on with the run
# in its folder.
set -eu
folder=${1-language_model} steps=${2-1500}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
mkdir -p "$folder"
cd "$folder"

# Numbers below 1,000 in words, one a line; then five in a row, every tenth start for the test.
seq 0 999 | sh "$here/number_words.sh" --words | cut -f 1 > numbers
awk '{ word[NR] = $0 } END {
  for (i = 1; i + 4 <= NR; ++i) {
    line = word[i]
    for (j = 1; j < 5; ++j) line = line ", " word[i + j]
    print line > (i % 10 == 5 ? "test.txt" : i % 50 == 1 ? "valid.txt" : "train.txt")
  }
}' numbers
[ -e bpe.model ] || tx-bpe train --vocab-size 300 -o bpe.model train.txt
train run "$steps" --kind decoder --preset toy --batch-tokens 2048 --vocab bpe.model \
  --save-every 100 --src train.txt --valid-src valid.txt

# The first two numbers of each test line, and what the model makes of them.
cut -d , -f 1,2 test.txt > prompts
sed 's/$/,/' prompts > begun
tx-decode -m run --beam 1 --max-new 60 < begun > continued
paste -d '\0' begun continued > whole
echo
echo "Continued:"
head -n 5 whole
cut -d , -f 3 whole > next
right=$(cut -d , -f 3 test.txt | paste -d , next - | awk -F , '$1 == $2 { ++n } END { print n + 0 }')
echo "$right of $(wc -l < test.txt) next numbers are right."
echo "Perplexity of the test text:"
tx-decode -m run --perplexity < test.txt 2>&1 > /dev/null | tail -n 1
