#!/bin/sh
# Trains a masked language model that predicts a number from its neighbours:
#
#   sh masked_model.sh [DIR [STEPS]]    default: masked_model, 600 steps
#
# Each line of the text counts, "forty-one forty-two forty-three ...", with one token per number.
# The model (an encoder alone) then predicts the masked middle number of lines that are not in its
# training text. Run it again to resume.
set -eu
dir=${1-masked_model} steps=${2-600}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
mkdir -p "$dir"
cd "$dir"

# Numbers below 100 in words; lines of three to five numbers, up or down in steps of one to four.
seq 0 99 | sh "$here/number_words.sh" --words | cut -f 1 > numbers
awk '{ word[NR - 1] = $0 } END {
  for (start = 0; start < 100; ++start)
    for (by = -4; by <= 4; ++by)
      for (count = 3; count <= 5; ++count) {
        last = start + by * (count - 1)
        if (by == 0 || last < 0 || last > 99) continue
        line = word[start]
        for (i = 1; i < count; ++i) line = line " " word[start + by * i]
        ++n
        print line > (n % 10 == 7 && count == 5 ? "test.txt" : n % 40 == 1 ? "valid.txt" : "train.txt")
      }
}' numbers
train run "$steps" --kind encoder --preset toy --batch-tokens 2048 --vocab words \
  --save-every 100 --src train.txt --valid-src valid.txt

awk '{ $3 = "<mask>"; print }' test.txt > masked
tx-decode -m run --nbest 1 < masked > filled
echo
echo "Masked, filled, probability:"
paste masked filled | cut -f 1,3,4 | head -n 5
right=$(cut -f 1 filled | paste -d '\n' - test.txt |
  awk 'NR % 2 { a = $0; next } a == $0 { ++n } END { print n + 0 }')
echo "$right of $(wc -l < test.txt) masked words are correct."
echo "Vectors of the test lines: vectors.safetensors"
tx-decode -m run --embed mean --vectors vectors.safetensors test.txt
