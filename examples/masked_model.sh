#!/bin/sh
# A masked language model from nothing: it learns to guess a word from the words around it.
#
#   sh masked_model.sh [FOLDER [STEPS]]    default: masked_model, 600 steps
#
# Each line of the text counts, "forty-one forty-two forty-three ...", in whole words. Afterwards the
# middle number of lines that the model (an encoder alone) never saw is hidden; its neighbours on
# both sides say what it was. It can be run again: it goes on with the run in its folder.
set -eu
folder=${1-masked_model} steps=${2-600}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
mkdir -p "$folder"
cd "$folder"

# Numbers below 100 as one word each; lines of three to five of them, up or down, by ones to fours.
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
echo "Hidden, filled, its probability:"
paste masked filled | cut -f 1,3,4 | head -n 5
right=$(cut -f 1 filled | paste -d '\n' - test.txt |
  awk 'NR % 2 { a = $0; next } a == $0 { ++n } END { print n + 0 }')
echo "$right of $(wc -l < test.txt) hidden words are guessed."
echo "Vectors of the first lines, to compare texts by: vectors.safetensors"
tx-decode -m run --embed mean --vectors vectors.safetensors test.txt
