#!/bin/sh
# Trains a language model that counts in English words:
#
#   sh language_model.sh [DIR [STEPS]]    default: language_model, 1,500 steps
#
# Each line of the text counts up from some number: "forty-one, forty-two, ...". The model (a
# decoder alone) then continues lines that are not in its training text, and the script counts how
# often the next number is correct. Run it again to resume.
set -eu
dir=${1-language_model} steps=${2-1500}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
mkdir -p "$dir"
cd "$dir"

# Numbers below 1,000 in words; lines of five numbers, of which every tenth is test text.
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

# Continue the first two numbers of each test line.
cut -d , -f 1,2 test.txt > prompts
sed 's/$/,/' prompts > prefixes
tx-decode -m run --beam 1 --max-new 60 < prefixes > continued
paste -d '\0' prefixes continued > whole
echo
echo "Continued:"
head -n 5 whole
cut -d , -f 3 whole > next
right=$(cut -d , -f 3 test.txt | paste -d , next - | awk -F , '$1 == $2 { ++n } END { print n + 0 }')
echo "$right of $(wc -l < test.txt) next numbers are correct."
echo "Perplexity of the test text:"
tx-decode -m run --perplexity < test.txt 2>&1 > /dev/null | tail -n 1
