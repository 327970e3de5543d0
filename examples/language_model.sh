#!/bin/sh
# Trains a language model that counts in English words:
#
#   sh language_model.sh [DIR [STEPS]]    default: build/language_model, 1,500 steps
#
# Each line of the text counts up from some number: "forty-one, forty-two, ...". The model (a
# decoder alone) then continues lines that are not in its training text, and the script counts how
# often the next number is correct. Run it again to resume.
set -eu
dir=${1-build/language_model} steps=${2-1500}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
mkdir -p "$dir"

# Numbers below 1,000 in words; lines of five numbers, of which every tenth is test text.
seq 0 999 | sh "$here/number_words.sh" --words | cut -f 1 > "$dir/numbers"
awk -v dir="$dir" '{ word[NR] = $0 } END {
  for (i = 1; i + 4 <= NR; ++i) {
    line = word[i]
    for (j = 1; j < 5; ++j) line = line ", " word[i + j]
    print line > (dir "/" (i % 10 == 5 ? "test" : i % 50 == 1 ? "valid" : "train") ".txt")
  }
}' "$dir/numbers"
[ -e "$dir/bpe.model" ] || tx-bpe train --vocab-size 300 -o "$dir/bpe.model" "$dir/train.txt"
train "$dir/run" "$steps" --kind decoder --preset toy --batch-tokens 2048 --save-every 100 \
  --vocab "$dir/bpe.model" --src "$dir/train.txt" --valid-src "$dir/valid.txt"

# Continue the first two numbers of each test line.
cut -d , -f 1,2 "$dir/test.txt" | sed 's/$/,/' > "$dir/prefixes"
tx-decode -m "$dir/run" --beam 1 --max-new 60 < "$dir/prefixes" > "$dir/continued"
paste -d '\0' "$dir/prefixes" "$dir/continued" > "$dir/whole"
echo
echo "Continued:"
head -n 5 "$dir/whole"
cut -d , -f 3 "$dir/whole" > "$dir/next"
right=$(cut -d , -f 3 "$dir/test.txt" | paste -d , "$dir/next" - |
  awk -F , '$1 == $2 { ++n } END { print n + 0 }')
echo "$right of $(wc -l < "$dir/test.txt") next numbers are correct."
echo "Perplexity of the test text:"
tx-decode -m "$dir/run" --perplexity < "$dir/test.txt" 2>&1 > /dev/null | tail -n 1
