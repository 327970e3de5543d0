#!/bin/sh
# Length generalisation: models with different positional encodings are trained on short sentences
# only and scored on short and on long ones.
#   sh examples/paper/lengths.sh DATA DIR [SETTING=VALUE]... > TABLE
# DATA and the record of settings, DIR/settings, are as for runs.sh. Run it again to resume.
# SHORT=10   maximum length of training sentences, in words, on both sides
# LONG=15    minimum length of the long test sentences
# KINDS="sinusoid learned rotary alibi none"  values of --positions
# STEPS=1200  BASE="--preset tiny --schedule cosine --lr 0.005 --warmup 400"
# DECODE="--beam 5 --alpha 1"  VOCAB=8000
# TRAIN=train VALID=val TEST=test_2016_flickr FROM=en TO=de, as for runs.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
data=${1:?"usage: lengths.sh DATA DIR [SETTING=VALUE]... > TABLE"}
dir=${2:?"DIR is missing"}
shift 2
SHORT=10 LONG=15 KINDS='sinusoid learned rotary alibi none' STEPS=1200
BASE='--preset tiny --schedule cosine --lr 0.005 --warmup 400'
DECODE='--beam 5 --alpha 1' TRAIN=train VALID=val TEST=test_2016_flickr FROM=en TO=de VOCAB=8000
recorded='SHORT LONG STEPS BASE DECODE TRAIN VALID TEST FROM TO VOCAB'
settings "$recorded KINDS" "$@"
text() { echo "$data/$1.lc.norm.tok.$2"; }
same_settings "$dir" "$recorded" "$(text "$TRAIN" "$FROM")" "$(text "$TRAIN" "$TO")" \
  "$(text "$VALID" "$FROM")" "$(text "$VALID" "$TO")" "$(text "$TEST" "$FROM")" \
  "$(text "$TEST" "$TO")"

# part NAME TEXT CONDITION: the pairs of a text whose lengths in words, n and m, satisfy CONDITION.
part() {
  paste "$(text "$2" "$FROM")" "$(text "$2" "$TO")" | awk -F '\t' -v from="$dir/$1.$FROM" \
    -v to="$dir/$1.$TO" '{ n = split($1, x, " "); m = split($2, x, " ") }
    '"$3"' { print $1 > from; print $2 > to }'
  [ -s "$dir/$1.$FROM" ] || { echo "lengths: no pair in $1" >&2; exit 1; }
}
part train "$TRAIN" "n <= $SHORT && m <= $SHORT"
part valid "$VALID" "n <= $SHORT && m <= $SHORT"
part short "$TEST" "n <= $SHORT && m <= $SHORT"
part long "$TEST" "n >= $LONG && m >= $LONG"
[ -e "$dir/bpe.model" ] || tx-bpe train --vocab-size "$VOCAB" -o "$dir/bpe.model" \
  "$(text "$TRAIN" "$FROM")" "$(text "$TRAIN" "$TO")"

echo "| positions | BLEU up to $SHORT words | $LONG words and more | without brevity penalty |" \
  'words / reference words |'
echo '|---|---|---|---|---|'
for kind in $KINDS; do
  # shellcheck disable=SC2086  # settings of several words
  (train "$dir/$kind" "$STEPS" $BASE --positions "$kind" --src "$dir/train.$FROM" \
    --tgt "$dir/train.$TO" --valid-src "$dir/valid.$FROM" --valid-tgt "$dir/valid.$TO" \
    --vocab "$dir/bpe.model" --keep 1) 2>> "$dir/$kind.log" ||
    { tail -n 2 "$dir/$kind.log" >&2; exit 1; }
  for set in short long; do
    # shellcheck disable=SC2086
    tx-decode -q -m "$dir/$kind" $DECODE < "$dir/$set.$FROM" > "$dir/$kind.$set"
    # SCORE PENALTY RATIO
    tx-bleu --tokenize none --lowercase --digits 2 "$dir/$set.$TO" < "$dir/$kind.$set" |
      sed 's/.* = \([0-9.]*\) .*(BP = \([0-9.]*\) ratio = \([0-9.]*\) .*/\1 \2 \3/' \
      > "$dir/$kind.$set.bleu"
  done
  awk -v kind="$kind" '
    NR == 1 { short = $1 }
    NR == 2 { printf "| %s | %.1f | %.1f | %.1f | %.2f |\n", kind, short, $1,
              ($2 > 0 ? $1 / $2 : 0), $3 }' "$dir/$kind.short.bleu" "$dir/$kind.long.bleu"
done
echo
hash_of_settings "$dir" "KINDS=$KINDS"
