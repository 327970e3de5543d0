#!/bin/sh
# Dual conditional cross-entropy filtering (Junczys-Dowmunt, 2018): finds pairs of a parallel text
# that are not translations of each other. Wrong pairs are planted, two models in opposite
# directions are trained on the noisy text and score its pairs, the worst are dropped, and models
# trained on the noisy and on the remaining text are compared.
#   sh examples/noisy_data.sh DATA DIR [SETTING=VALUE]... > TABLE
# DATA and the record of settings, DIR/settings, are as for paper/runs.sh. Run it again to resume.
# NOISE=30   percent of the pairs that get the target of another one; 0: filters DATA as it is
# DROP=30    percent of the pairs that are dropped
# STEPS=1000  BASE="--preset modern"  of every model     VOCAB=8000
# TRAIN=train VALID=val TEST=test_2016_flickr FROM=en TO=de FORM=.lc.norm.tok
# SCORE="--tokenize none --lowercase", as for runs.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
data=${1:?"usage: noisy_data.sh DATA DIR [SETTING=VALUE]... > TABLE"}
dir=${2:?"DIR is missing"}
shift 2
NOISE=30 DROP=30 STEPS=1000 BASE='--preset modern' VOCAB=8000
TRAIN=train VALID=val TEST=test_2016_flickr FROM=en TO=de
FORM=.lc.norm.tok SCORE='--tokenize none --lowercase'
recorded='NOISE DROP STEPS BASE VOCAB TRAIN VALID TEST FROM TO FORM SCORE'
settings "$recorded" "$@"
text() { echo "$data/$1$FORM.$2"; }
src=$(text "$TRAIN" "$FROM") tgt=$(text "$TRAIN" "$TO")
same_settings "$dir" "$recorded" "$src" "$tgt" "$(text "$VALID" "$FROM")" "$(text "$VALID" "$TO")" \
  "$(text "$TEST" "$FROM")" "$(text "$TEST" "$TO")"

# The pairs to spoil are drawn; each gets the target of the one drawn before it, so that the targets
# are the same sentences as before. planted: 1 for a spoilt pair.
awk -v percent="$NOISE" 'BEGIN { x = 42 }
  { x = x * 16807 % 2147483647; print (x % 1000 < 10 * percent) + 0 }' "$src" > "$dir/planted"
paste "$dir/planted" "$tgt" | awk -F '\t' '
  { line[NR] = $2; if ($1) { if (last) line[last] = $2; else first = $2; last = NR } }
  END { if (last) line[last] = first; for (i = 1; i <= NR; ++i) print line[i] }' > "$dir/noisy.$TO"
cp "$src" "$dir/noisy.$FROM"
[ -e "$dir/bpe.model" ] ||
  tx-bpe train --vocab-size "$VOCAB" -o "$dir/bpe.model" "$dir/noisy.$FROM" "$dir/noisy.$TO"

# learn NAME TEXT FROM TO: trains DIR/NAME on DIR/TEXT.
learn() {
  # shellcheck disable=SC2086  # options of several words
  (train "$dir/$1" "$STEPS" $BASE --src "$dir/$2.$3" --tgt "$dir/$2.$4" --vocab "$dir/bpe.model" \
    --valid-src "$(text "$VALID" "$3")" --valid-tgt "$(text "$VALID" "$4")" --keep 1) \
    2>> "$dir/$1.log" || { tail -n 2 "$dir/$1.log" >&2; exit 1; }
}
learn noisy noisy "$FROM" "$TO"
learn reverse noisy "$TO" "$FROM"

# Cross-entropy per word of each side given the other.
tx-decode -q -m "$dir/noisy" --tgt "$dir/noisy.$TO" --scores "$dir/noisy.$FROM" | cut -f 2 > "$dir/to"
tx-decode -q -m "$dir/reverse" --tgt "$dir/noisy.$FROM" --scores "$dir/noisy.$TO" | cut -f 2 > "$dir/from"
paste "$dir/to" "$dir/from" "$dir/noisy.$FROM" "$dir/noisy.$TO" | awk -F '\t' '{
  a = -$1 / (split($4, words, " ") + 1)
  b = -$2 / (split($3, words, " ") + 1)
  difference = a > b ? a - b : b - a
  printf "%d\t%.4f\n", NR, difference + (a + b) / 2 }' | sort -s -k 2,2gr > "$dir/ranked"
count=$(($(wc -l < "$dir/ranked") * DROP / 100))
head -n "$count" "$dir/ranked" | cut -f 1 | sort -n > "$dir/dropped"
for side in "$FROM" "$TO"; do
  awk 'NR == FNR { dropped[$1]; next } !(FNR in dropped)' "$dir/dropped" "$dir/noisy.$side" \
    > "$dir/kept.$side"
done
learn filtered kept "$FROM" "$TO"

awk 'NR == FNR { dropped[$1]; next } { all += $1; pairs++; if (FNR in dropped) found += $1; n += FNR in dropped }
  END { printf "%d of %d pairs are dropped, %d of %d planted ones among them: %.1f %% are found, ", \
      n, pairs, found, all, all ? 100 * found / all : 0
    printf "%.1f %% of the dropped pairs are planted\n\n", n ? 100 * found / n : 0 }' \
  "$dir/dropped" "$dir/planted"
echo '| trained on | pairs | BLEU |'
echo '|---|---|---|'
for name in noisy filtered; do
  [ $name = noisy ] && pairs=$dir/noisy.$TO || pairs=$dir/kept.$TO
  tx-decode -q -m "$dir/$name" < "$(text "$TEST" "$FROM")" > "$dir/$name.out"
  # shellcheck disable=SC2086
  printf '| %s | %s | %s |\n' $name "$(wc -l < "$pairs")" \
    "$(tx-bleu $SCORE --score-only "$(text "$TEST" "$TO")" < "$dir/$name.out")"
done
echo
hash_of_settings "$dir"
