#!/bin/sh
# Back-translation (Sennrich et al., 2016): uses monolingual text of the target language. A model in
# the opposite direction, trained on the parallel text, translates it into sources, here by sampling
# (Edunov et al., 2018) and with a tag in front (Caswell et al., 2019).
#   sh examples/backtranslate.sh DATA DIR [SETTING=VALUE]... > TABLE
# DATA and the record of settings, DIR/settings, are as for paper/runs.sh. Run it again to resume.
# Settings, in addition to those of compare() in train.sh:
# PAIRS=10000  the parallel text is the first PAIRS of TRAIN; of the other pairs only the target is
#              used, as monolingual text. The last row of the table trains on all pairs.
# DECODE="--sample"  TAG="<bt>"  how sources are made, and what precedes them
# STEPS=1000  BASE="--preset modern"  of every model
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
data=${1:?"usage: backtranslate.sh DATA DIR [SETTING=VALUE]... > TABLE"}
dir=${2:?"DIR is missing"}
shift 2
PAIRS=10000 DECODE=--sample TAG='<bt>' STEPS=1000 BASE='--preset modern'
compare 'PAIRS DECODE TAG' "$@"

for side in "$FROM" "$TO"; do
  cp "$(text "$TRAIN" "$side")" "$dir/whole.$side"
  head -n "$PAIRS" "$dir/whole.$side" > "$dir/parallel.$side"
done
tail -n "+$((PAIRS + 1))" "$dir/whole.$TO" > "$dir/monolingual.$TO"
[ -s "$dir/monolingual.$TO" ] || { echo "backtranslate.sh: all pairs are parallel" >&2; exit 1; }
echo "$TAG" > "$dir/symbols"
[ -e "$dir/bpe.model" ] || tx-bpe train --vocab-size "$VOCAB" --user-symbols "$dir/symbols" \
  -o "$dir/bpe.model" "$dir/parallel.$FROM" "$dir/whole.$TO"

learn reverse parallel "$TO" "$FROM"
# shellcheck disable=SC2086  # DECODE is split into words
[ -e "$dir/sources" ] || {
  tx-decode -q -m "$dir/reverse" $DECODE < "$dir/monolingual.$TO" > "$dir/sources.new"
  mv "$dir/sources.new" "$dir/sources"
}
# Pairs without a source are left out.
awk -v tag="$TAG" -v monolingual="$dir/monolingual.$TO" -v from="$dir/synthetic.$FROM" \
  -v to="$dir/synthetic.$TO" '{ getline target < monolingual }
  NF { print tag " " $0 > from; print target > to }' "$dir/sources"
for side in "$FROM" "$TO"; do
  cat "$dir/parallel.$side" "$dir/synthetic.$side" > "$dir/both.$side"
done
learn parallel parallel "$FROM" "$TO"
learn both both "$FROM" "$TO"
learn whole whole "$FROM" "$TO"

parallel=$(score parallel)
both=$(score both)
whole=$(score whole)
echo '| trained on | pairs | score |'
echo '|---|---|---|'
echo "| parallel text | $(wc -l < "$dir/parallel.$TO") | $parallel |"
echo "| and back-translations | $(wc -l < "$dir/both.$TO") | $both |"
echo "| all pairs | $(wc -l < "$dir/whole.$TO") | $whole |"
echo
hash_of_settings "$dir"
