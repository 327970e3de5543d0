#!/bin/sh
# Positions for lengths never seen: models that learn from short sentences alone, and BLEU of short
# and of long ones.
#   sh examples/paper/lengths.sh DATA FOLDER [SETTING=VALUE]... > TABLE
# DATA is that of runs.sh. SHORT=10 words at most on both sides to learn from; sentences with
# LONG=15 words or more are the long ones. KINDS="sinusoid learned rotary alibi none" are values of
# --positions.
# STEPS=1200  BASE="--preset tiny --schedule cosine --lr 0.005 --warmup 400"
# DECODE="--beam 5 --alpha 1"
# TRAIN=train VALID=val TEST=test_2016_flickr FROM=en TO=de, as in runs.sh. Run again, this goes on.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
data=${1:?"usage: lengths.sh DATA FOLDER [SETTING=VALUE]... > TABLE"}
folder=${2:?"FOLDER is missing"}
shift 2
SHORT=10 LONG=15 KINDS='sinusoid learned rotary alibi none' STEPS=1200
BASE='--preset tiny --schedule cosine --lr 0.005 --warmup 400'
DECODE='--beam 5 --alpha 1' TRAIN=train VALID=val TEST=test_2016_flickr FROM=en TO=de
settings "SHORT LONG KINDS STEPS BASE DECODE TRAIN VALID TEST FROM TO" "$@"
text() { echo "$data/$1.lc.norm.tok.$2"; }
mkdir -p "$folder"

# part NAME TEXT CONDITION: the pairs of a text whose numbers of words, n and m, meet it.
part() {
  paste "$(text "$2" "$FROM")" "$(text "$2" "$TO")" | awk -F '\t' -v from="$folder/$1.$FROM" \
    -v to="$folder/$1.$TO" '{ n = split($1, x, " "); m = split($2, x, " ") }
    '"$3"' { print $1 > from; print $2 > to }'
  [ -s "$folder/$1.$FROM" ] || { echo "lengths: no pair in $1" >&2; exit 1; }
}
part train "$TRAIN" "n <= $SHORT && m <= $SHORT"
part valid "$VALID" "n <= $SHORT && m <= $SHORT"
part short "$TEST" "n <= $SHORT && m <= $SHORT"
part long "$TEST" "n >= $LONG && m >= $LONG"
[ -e "$folder/bpe.model" ] || tx-bpe train --vocab-size "${VOCAB-8000}" -o "$folder/bpe.model" \
  "$(text "$TRAIN" "$FROM")" "$(text "$TRAIN" "$TO")"

echo "| positions | BLEU up to $SHORT words | $LONG words and more | words there / reference's |"
echo '|---|---|---|---|'
for kind in $KINDS; do
  # shellcheck disable=SC2086  # settings of several words
  (train "$folder/$kind" "$STEPS" $BASE --positions "$kind" --src "$folder/train.$FROM" \
    --tgt "$folder/train.$TO" --valid-src "$folder/valid.$FROM" --valid-tgt "$folder/valid.$TO" \
    --vocab "$folder/bpe.model" --keep 1) 2>> "$folder/$kind.log" ||
    { tail -n 2 "$folder/$kind.log" >&2; exit 1; }
  for set in short long; do
    # shellcheck disable=SC2086
    tx-decode -q -m "$folder/$kind" $DECODE < "$folder/$set.$FROM" > "$folder/$kind.$set"
    tx-bleu --tokenize none --lowercase --score-only "$folder/$set.$TO" < "$folder/$kind.$set" \
      > "$folder/$kind.$set.bleu"
  done
  printf '| %s | %s | %s | %s |\n' "$kind" "$(cat "$folder/$kind.short.bleu")" \
    "$(cat "$folder/$kind.long.bleu")" \
    "$(wc -w < "$folder/$kind.long" | awk -v of="$(wc -w < "$folder/long.$TO")" \
      '{ printf "%.2f", $1 / of }')"
done
