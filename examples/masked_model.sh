#!/bin/sh
# Trains a masked language model that predicts a number from its neighbours:
#
#   sh masked_model.sh [DIR [STEPS]]    default: build/masked_model, 600 steps
#
# Each line of the text counts, "forty-one forty-two forty-three ...", with one token per number.
# The model (an encoder alone) then predicts the masked middle number of lines that are not in its
# training text. Run it again to resume.
set -eu
dir=${1-build/masked_model} steps=${2-600}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
mkdir -p "$dir"

# Numbers below 100 in words; lines of three to five numbers, up or down in steps of one to four.
seq 0 99 | sh "$here/number_words.sh" --words | cut -f 1 > "$dir/numbers"
awk -v dir="$dir" '{ word[NR - 1] = $0 } END {
  for (start = 0; start < 100; ++start)
    for (by = -4; by <= 4; ++by)
      for (count = 3; count <= 5; ++count) {
        last = start + by * (count - 1)
        if (by == 0 || last < 0 || last > 99) continue
        line = word[start]
        for (i = 1; i < count; ++i) line = line " " word[start + by * i]
        ++n
        set = n % 10 == 7 && count == 5 ? "test" : n % 40 == 1 ? "valid" : "train"
        print line > (dir "/" set ".txt")
      }
}' "$dir/numbers"
train "$dir/run" "$steps" --kind encoder --preset toy --batch-tokens 2048 --vocab words \
  --save-every 100 --src "$dir/train.txt" --valid-src "$dir/valid.txt"

awk '{ $3 = "<mask>"; print }' "$dir/test.txt" > "$dir/masked"
tx-decode -m "$dir/run" --nbest 1 < "$dir/masked" > "$dir/filled"
echo
echo "Masked, filled, probability:"
paste "$dir/masked" "$dir/filled" | cut -f 1,3,4 | head -n 5
right=$(cut -f 1 "$dir/filled" | paste -d '\n' - "$dir/test.txt" |
  awk 'NR % 2 { a = $0; next } a == $0 { ++n } END { print n + 0 }')
echo "$right of $(wc -l < "$dir/test.txt") masked words are correct."
echo "Vectors of the test lines: $dir/vectors.safetensors"
tx-decode -m "$dir/run" --embed mean --vectors "$dir/vectors.safetensors" "$dir/test.txt"
